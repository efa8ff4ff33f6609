package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// fakeDisk is a disk without a file system. One that leaks never gets full.
type fakeDisk struct {
	*fakeNode

	full, leaks bool
	none        error
}

func (d *fakeDisk) Disk() (runtime.Disk, error) { return d, d.none }
func (d *fakeDisk) Start(context.Context) error { return nil }
func (d *fakeDisk) Fill(context.Context) error  { d.full = !d.leaks; return nil }
func (d *fakeDisk) Clear(context.Context) error { d.full = false; return nil }
func (d *fakeDisk) Full(context.Context) error {
	if !d.full {
		return errors.New("there is room for 8 KiB")
	}
	return nil
}

// brokerOn is a Kafka of one node with that disk.
func brokerOn(t *testing.T, e *Env, d *fakeDisk) *Broker {
	t.Helper()
	d.fakeNode = &fakeNode{log: filepath.Join(t.TempDir(), "log")}
	b := &Broker{
		env: e, holder: &holder{env: e}, name: "kafka", nodes: []runtime.Node{d}, ready: succeeds,
		plan: plan{nodes: []broker.Node{{Name: "kafka-1", Data: "data"}}},
	}
	return b
}

func TestFullDiskBitesAndHeals(t *testing.T) {
	disk := &fakeDisk{}
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		b := brokerOn(t, e, disk)
		require.NoError(tb, b.FillDisk().Heal(t.Context()), "also before it was applied")
		full := e.Inject(b.FillDisk())
		require.True(tb, disk.full)
		require.ErrorContains(tb, b.FillDisk().Apply(t.Context()), "the disk of kafka-1 is full already: heal that fault first")
		full.Heal()
		require.False(tb, disk.full)
		e.Inject(b.FillDisk())
		e.Within("it is full again", time.Second, func(context.Context) error { return disk.Full(t.Context()) })
	})
	d.requireVerdict(t, "recovered")
	require.False(t, disk.full, "it heals by itself at the end")
}

func TestDiskThatHasRoomDoesNotBite(t *testing.T) {
	for name, spoil := range map[string]func(f *Fault, d *fakeDisk){
		"not applied": func(f *Fault, _ *fakeDisk) { f.Apply = succeeds },
		"never full":  func(_ *Fault, d *fakeDisk) { d.leaks = true },
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := scenario(t, func(tb testing.TB) {
				e, disk := New(tb, Case{}), &fakeDisk{}
				f := brokerOn(t, e, disk).FillDisk()
				f.BitesWithin = 100 * time.Millisecond
				spoil(&f, disk)
				e.Inject(f)
			})
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], "did not bite")
			require.Contains(t, d.attrs["reason"], "the disk of kafka-1 is not full: there is room for 8 KiB")
		})
	}
}

func TestFullDiskIsRefusedWhereThereIsNone(t *testing.T) {
	for want, change := range map[string]func(b *Broker, d *fakeDisk){
		"others need it": func(_ *Broker, d *fakeDisk) { d.none = errors.New("others need it") },
		"kafka stores no data, so it has no disk that could be full": func(b *Broker, _ *fakeDisk) { b.plan.nodes[0].Data = "" },
	} {
		d, _ := scenario(t, func(tb testing.TB) {
			e, disk := New(tb, Case{}), &fakeDisk{}
			b := brokerOn(t, e, disk)
			change(b, disk)
			e.Inject(b.FillDisk())
		})
		d.requireVerdict(t, "environment")
		require.Contains(t, d.attrs["reason"], `inject "the disk of kafka is full"`)
		require.Contains(t, d.attrs["reason"], want)
	}
}

// A broker that ends of a full disk is what the test is about, until it was started again.
func TestBrokerMayEndOfItsFullDiskUntilItIsStarted(t *testing.T) {
	died := &brokerDied{node: "kafka-1", err: errors.New("exit status 1")}
	ended := errors.New("the scenario did not come so far")
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		b := brokerOn(t, e, &fakeDisk{})
		full := e.Inject(b.FillDisk())
		b.holder.died(died)
		require.NoError(tb, b.start(e.ctx))
		b.holder.died(died)
		full.Heal()
		b.holder.died(died)
		ended = e.ctx.Err()
		require.NoError(tb, b.start(e.ctx))
		b.holder.died(died)
		e.Within("it goes on", time.Second, succeeds)
	})
	require.NoError(t, ended, "it may end")
	d.requireVerdict(t, string(evidence.Environment))
	require.Contains(t, d.attrs["reason"], "kafka-1 ended unasked (exit status 1)")
}

func TestDataLimitIsThatOfTheNodesThatStoreData(t *testing.T) {
	p, err := (&RocketMQ{}).plan(RocketMQSpec{Version: "5.5.0", BrokerVersion: "5.5.0", DataLimit: 7})
	require.NoError(t, err)
	limits := map[string]int64{}
	for _, n := range p.nodes {
		limits[n.Name] = n.DataLimit
	}
	require.Equal(t, map[string]int64{"nameserver": 0, "broker": 7, "proxy": 0}, limits)

	k := &Kafka{}
	p, err = k.plan(KafkaSpec{Version: "4.4.0", Brokers: 2, DataLimit: 7})
	require.NoError(t, err)
	require.EqualValues(t, 7, p.nodes[1].DataLimit)
	changed, err := p.with(Change{Config: map[string]string{"a": "1"}})
	require.NoError(t, err)
	require.EqualValues(t, 7, changed.nodes[1].DataLimit)
	_, err = p.with(Change{Config: map[string]string{"log.dirs": ""}})
	require.EqualError(t, err, "a DataLimit does not hold where log.dirs= places the data: leave one of them out")
	_, err = k.plan(KafkaSpec{Version: "4.4.0", Brokers: 1, DataLimit: -1})
	require.EqualError(t, err, "a DataLimit of -1 bytes: it cannot be negative")

	p, err = (&Pulsar{}).plan(PulsarSpec{Version: "3.0.2", DataLimit: 7})
	require.NoError(t, err)
	changed, err = p.with(Change{Version: "4.2.4"})
	require.NoError(t, err)
	require.EqualValues(t, 7, changed.nodes[0].DataLimit)
}

// limitedKinds are brokers whose data have a disk of their own, and which part of each to
// hurt. There, 256 MiB are enough for a test.
var limitedKinds = map[string]func(e *Env) (whole subject, hurt *Broker){
	"kafka": func(e *Env) (subject, *Broker) {
		s := kafkaSubject(e, KafkaSpec{Version: "4.4.0", DataLimit: 256 << 20}, "")
		return s, s.broker
	},
	"pulsar": func(e *Env) (subject, *Broker) {
		s := pulsarSubject(e, PulsarSpec{Version: "3.0.2", DataLimit: 256 << 20})
		return s, s.broker
	},
	"rocketmq": func(e *Env) (subject, *Broker) {
		s, r := rocketMQSubject(e, RocketMQSpec{Version: "5.5.0", DataLimit: 256 << 20})
		return s, r.Server()
	},
}

func TestEveryBrokerMeetsAFullDiskAndHasItsDataAfterIt(t *testing.T) {
	inEveryRuntime(t, limitedKinds, func(t *testing.T, place string, start func(*Env) (subject, *Broker)) {
		if place == "process" {
			d, _ := scenario(t, func(tb testing.TB) { start(New(tb, Case{})) })
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], "which a process cannot be given: set BROKERFAULT_BACKEND=container")
			return
		}
		outlivesAFullDisk(t, start)
	})
}

func outlivesAFullDisk(t *testing.T, start func(*Env) (subject, *Broker)) {
	e := New(t, Case{Name: "testenv/full-disk", Claim: "a broker has its data after a full disk"})
	s, b := start(e)
	e.Within("something is stored", 30*time.Second, s.put)
	e.Within("there is room", 10*time.Second, b.hasRoom)
	full := e.Inject(b.FillDisk())
	e.Within("the broker meets it", time.Minute, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		err := s.write(ctx)
		for _, n := range b.nodes {
			log, e := os.ReadFile(n.LogFile())
			// BookKeeper looks at its disks now and then, and may see it before it writes.
			if bytes.Contains(log, []byte("No space left on device")) || bytes.Contains(log, []byte("is out-of-space")) {
				return nil
			}
			err = errors.Join(err, e)
		}
		return fmt.Errorf("its log tells of no lack of space; it was told to write: %w", err)
	})
	full.Heal()
	e.Within("there is room again", 10*time.Second, b.hasRoom)
	e.Inject(b.Restart())
	e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
	e.Within("what was stored is there", 30*time.Second, s.kept)
}

// hasRoom wants a page to have been written to each disk.
func (b *Broker) hasRoom(ctx context.Context) error {
	disks, err := b.disks()
	if err != nil {
		return err
	}
	for _, d := range disks {
		if d.Full(ctx) == nil {
			return errors.New("there is no room on the disk of " + d.node)
		}
	}
	return nil
}
