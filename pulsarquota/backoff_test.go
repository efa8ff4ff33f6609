package pulsarquota

import (
	"reflect"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

// promptly makes a producer try to reconnect every 200 ms. By default its
// pauses double up to a minute, which tests the patience of the test only.
//
// The option is set by its name, so that the tests build with all releases: a
// policy in BackoffPolicy up to v0.13.1, a func that makes one in
// BackOffPolicyFunc from v0.14.0 on, of a package that was new then.
func promptly(o pulsar.ProducerOptions) pulsar.ProducerOptions {
	options, policy := reflect.ValueOf(&o).Elem(), reflect.ValueOf(everyFifth{})
	if old := options.FieldByName("BackoffPolicy"); old.IsValid() {
		old.Set(policy)
		return o
	}
	maker := options.FieldByName("BackOffPolicyFunc")
	maker.Set(reflect.MakeFunc(maker.Type(), func([]reflect.Value) []reflect.Value {
		return []reflect.Value{policy.Convert(maker.Type().Out(0))}
	}))
	return o
}

type everyFifth struct{}

func (everyFifth) Next() time.Duration       { return 200 * time.Millisecond }
func (everyFifth) IsMaxBackoffReached() bool { return false }
func (everyFifth) Reset()                    {}
