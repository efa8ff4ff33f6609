// Package testenv starts real brokers for tests, does bad things to them, and
// tells whether a client comes back.
//
// # The life of a scenario
//
// A scenario is a Go test that says first what it claims, in a [Case], and
// then goes through these steps:
//
//	healthy -> fault -> proof -> observe -> heal -> recover -> steady
//
//	env := testenv.New(t, selfHeal)
//	pulsar := env.StartPulsar(testenv.PulsarSpec{})
//	// ... make a client of pulsar.ServiceURL() and a producer; then:
//	env.Witness("a fresh producer sends", freshProducerSends)
//	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
//	quota := env.Inject(fillBacklog)
//	env.Holds("sends fail while the quota is exceeded", 5*time.Second, refused(producer))
//	quota.Heal()
//	env.Recovers("the same producer sends again", 30*time.Second, sends(producer))
//
// pulsarquota/selfheal_test.go is that scenario in full. The [Env] owns what
// the scenario starts. When the test ends, also after a failure or a panic, it
// heals the faults, waits for goroutines started with [Env.Go], closes the
// clients registered with [Env.Closes], reaches the verdict, writes the
// evidence and stops the brokers. Each of these steps is bounded, so a client
// that never returns from its Close keeps no broker alive.
//
// Every scenario has a broker of its own. Clients connect through a link, a
// listener whose address the broker advertises and which stays the same while
// the broker is restarted, killed or cut off. Calls of the admin interface go
// past the link.
//
// A version of the client is not chosen here: it is the one that the test was
// built with, and [Client.Version] reads it from the binary.
//
// # Waits
//
// A [Probe] tries something once and returns an error or nil. Three waits run
// probes:
//
//   - [Env.Within] until one succeeds, within a budget.
//   - [Env.Holds] for the whole duration; the first that fails ends it.
//   - [Env.Recovers] as Within, but its clock starts at the latest heal, or at
//     the injection of a fault that needs no healing. The time it took is
//     reported against its budget. Call it after Heal, not before.
//
// The first probe comes at once, the next 20 ms after the end of the one
// before. A wait ends early if a probe returns an error wrapped in [Stop], if
// it panics, or if a broker process ends that nobody told to. A probe runs on
// its own goroutine, so it must return errors and must not call t.FailNow or
// testify's require. One that does not return within a second after the
// budget's end is reported as "did not return" and left behind. A probe that
// is still to be written is a [ToDo], which fails at once.
//
// A success that comes after the budget's end is a failure, and the message
// says how late it came. No test is ever run a second time to make it pass.
//
// # Faults
//
// A [Fault] has a way to bring it about (Apply), a proof that it took effect
// (Bites) and, unless it is over by itself, a way to undo it (Heal).
// [Env.Inject] returns once the proof has succeeded. A fault without a proof
// is refused and a fault that does not bite ends the test with the verdict
// environment: such a run would prove nothing. So does a test that injects no
// fault, and one that waits for nothing after its latest.
//
// These faults of a broker come ready made, for every broker and in both runtimes:
//
//   - [Broker.Kill]: its processes end at once (SIGKILL); healed by starting
//     them again with their data.
//   - [Broker.Stop]: they end in an orderly way (SIGTERM); healed in the same way.
//   - [Broker.Restart]: stopped (SIGTERM), started, and ready again when
//     Inject returns. It needs no healing.
//   - [Broker.RestartWith]: the same with another version or configuration, on its
//     data. It is refused where the data could not be taken over.
//   - [Broker.Pause]: it is frozen and its connections stay open; healed by
//     letting it go on.
//
// One takes a container, and a DataLimit in the spec that the broker is started with; it is
// refused elsewhere:
//
//   - [Broker.FillDisk]: nothing more can be written to where it stores its data; healed by
//     making room. A broker that ends of it ends no test, until it is started again.
//
// And these lie on the way between clients and broker. Each is proven through the link by
// a client's own handshake or by a measurement, may lie on a link once at a time, and is
// healed by letting pass what it kept:
//
//   - [Broker.Cut]: every connection is reset, and each new one as soon as it is accepted.
//   - [Broker.CutToBroker], [Broker.CutToClients]: what one side sends is swallowed;
//     connections stay open.
//   - [Broker.RefuseConnections]: new connections are reset, and those that are open go on.
//   - [Broker.ResetConnections]: those that are open are reset once, and new ones let
//     through. It needs no healing.
//   - [Broker.Latency]: each direction takes that much longer.
//   - [Broker.Throttle]: each direction of a connection passes so many bytes a second.
//
// [RocketMQ.Proxy] and [RocketMQ.Server] are a RocketMQ reduced to its proxy or its
// broker, for the same faults. A [Relay] in front of the proxy loses, delays or
// replaces single answers of its gRPC methods.
//
// [Kafka.Node] is one broker of a Kafka, for the same faults. At the links of a Kafka
// [Kafka.Hold], [Kafka.Delay], [Kafka.Drop] and [Kafka.Lose] pick requests or answers by
// API key, all or the n-th, counted over all brokers and connections. [Fault.Then]
// starts the client's call that such a fault is to hit: after the rule, before its proof.
//
// A fault made by an admin call or by the clients themselves is written in the
// scenario package, as pulsarquota's full backlog is.
//
// # The witness
//
// A wait that fails does not say who is to blame. If the faults are healed,
// the probe that was registered with [Env.Witness] is asked: can a fresh
// client do the same thing on the same broker? If it can, the client under
// test is at fault; if not, the broker is. While a fault still lies on the
// broker nobody is asked, and the blame is unknown.
//
// # Verdicts
//
//   - recovered: the claim held. The report has the time of the recovery and
//     its budget; of several recoveries, those of the one nearest to its
//     budget.
//   - not recovered: the claim did not hold; at fault is the client, the
//     broker, or unknown.
//   - environment: nothing was proven, and neither client nor broker is
//     blamed: no container engine and no Java, a download that failed, a
//     broker that did not start or ended unasked, a fault that did not bite or
//     could not be healed, a wait that failed before any fault was injected, a
//     test that go test's -timeout is about to end (it is given up 20 s before, or
//     when a tenth of its time is left, so that its evidence can be written).
//   - not run: the test skipped itself, or said why not with [Env.NotRun].
//     BROKERFAULT_REQUIRE=1 makes a failure of the latter.
//
// A verdict of not recovered or environment fails the test. Its attributes
// (testing.TB.Attr) carry the case, the issue, the client, the broker, their
// versions, the runtime, the verdict, the one at fault, the reason,
// recovery_ms, budget_ms and the counts given to [Env.Evidence] and
// [Env.Counts], so that go test -json has them.
//
// # Known-bad combinations
//
// A [Case] lists the versions for which its claim was seen to fail and to
// hold. A known-bad combination makes the test red, with the listed evidence
// in its message. If the claim holds although it is listed the test is red as
// well: either the entry or the check is wrong. With Open set, for what no
// release mends, a claim that fails as listed is skipped with the verdict not
// recovered, so that a suite does not stay red for what nobody can upgrade.
//
// # Evidence
//
// With go test -artifacts each scenario leaves a folder. BROKERFAULT_KEEP=1 leaves one
// for failed tests without that flag, in a new folder of the system's temporary
// directory. The test's log names the folder, and after a failure the command that runs
// the case again with the same versions, here without a folder as well.
//
//   - summary.txt, to be read first: case, verdict, reason, versions, that command, what
//     each of the other files tells, and what could not be got and why.
//   - timeline.txt: what happened and when, on one clock; timeline.json is
//     the same for programs.
//   - NAME.log: each log asked for with [Env.Log].
//   - broker-NODE.log, whole; broker-NODE-since-fault.log from the first fault on;
//     broker-NODE-errors.txt: its errors since then, each kind once with its number.
//   - config-NODE.txt: the JVM's flags and the rendered files.
//   - goroutines.txt and threads-NODE.txt, after a failure: those of the test and of the
//     broker at its very moment, before the clean-up ends them.
//
// # What is left behind
//
// Nothing that runs. The test binary starts itself a second time as a
// supervisor, which starts the brokers and watches a pipe to the test. If the
// test is killed, kill -9 included, the supervisor kills the brokers, removes
// the containers and networks labeled with its session, and the session's
// directory. If both are killed at once, the next run removes what is left of
// every session whose lock nobody holds, and nothing else; where the session's container
// engine cannot be reached, its name stays noted for the run after that. On Linux the kernel
// ends broker processes with a supervisor that was killed. What stays on
// purpose are the jars in BROKERFAULT_CACHE, what Maven keeps in its local
// repository, and images labeled io.brokerfault=image.
//
// # Settings
//
// A setting that is not set or empty has its default. A wrong value, or a name
// with this prefix that is no setting, ends the test with a message that says
// what there is. The table is generated from testenv/internal/settings by
// TestSettingsTableOfManual:
//
//	BROKERFAULT_BACKEND (auto)
//		auto, container or process: where brokers run; auto takes containers if an engine answers at once, else processes if Java 17 and Maven are there
//	BROKERFAULT_PULSAR (3.0.2)
//		a version: Pulsar's version where a test names none
//	BROKERFAULT_KAFKA (3.9.2)
//		a version: Kafka's version where a test names none
//	BROKERFAULT_ROCKETMQ (5.5.1)
//		a version: the version of RocketMQ's broker, and of the rest as far as it fits, where a test names none; V-broker-W takes the rest in V and the broker in W
//	BROKERFAULT_PROFILE (fast)
//		fast or full: full runs with the timings of the original experiments
//	BROKERFAULT_SCALE (1)
//		a number from 1 to 100: multiplies every budget, for slow machines
//	BROKERFAULT_REQUIRE (0)
//		0 or 1: 1 fails what did not run (for CI)
//	BROKERFAULT_KEEP (0)
//		0 or 1: 1 keeps a failed test's evidence also without -artifacts
//	BROKERFAULT_CACHE (brokerfault in the user's cache directory)
//		an absolute path: where jars are kept
//	BROKERFAULT_BASE_IMAGE (eclipse-temurin:17-jre)
//		an image reference: the image with a Java runtime that broker images are built on
//	BROKERFAULT_LIST (0)
//		0 or 1: 1 prints each case instead of running it
//
// BROKERFAULT_SCALE multiplies the budgets of waits, of faults and of a broker's start, not the
// limits of the clean-up and of a download, not the time that something has to hold, and not
// the budget of a wait that is listed to fail.
package testenv
