package link

import "time"

// perSecond is how many pieces a throttled second is cut into: small enough that
// bytes trickle, large enough not to wake up for each of them.
const perSecond = 20

// throttle hands data to write at the shape's rate. The time a piece takes on the
// wire passes before it is written, as the receiver would see it.
func (p *pipe) throttle(data []byte, write func([]byte)) {
	begin := time.Now()
	if p.free.After(begin) {
		begin = p.free
	}
	for len(data) > 0 {
		rate := p.now().rate
		if rate == 0 {
			p.free = time.Time{}
			write(data)
			return
		}
		size := min(int64(len(data)), max(rate/perSecond, 1))
		due := begin.Add(time.Duration(size) * time.Second / time.Duration(rate))
		if !p.waitUntil(due) {
			continue
		}
		write(data[:size])
		data = data[size:]
		begin, p.free = due, due
	}
}

// waitUntil returns false if the shape changed, or the session ended, before.
func (p *pipe) waitUntil(due time.Time) bool {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.changedRate:
		return false
	}
}
