package rocketmqpop

import (
	rmq "github.com/apache/rocketmq-clients/golang/v5"

	"github.com/brokerfault/brokerfault/testenv"
)

// underTest is the client of this package. Where a popper pops, the broker is under test.
var underTest = testenv.Client{Module: "github.com/apache/rocketmq-clients/golang/v5", Symbol: rmq.ResetLogger}
