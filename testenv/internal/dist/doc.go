// Package dist gets the jars a broker is made of.
//
// A [Bill] says what is wanted: [Pulsar], [Kafka] and [RocketMQ] write one for
// a version. Maven resolves it, with the user's own settings, mirrors and local
// repository, and a [Cache] keeps the result: a directory of jars for each
// bill, which is either whole and verified or not there at all.
//
//	cache := dist.Cache{Dir: dir, Run: run}
//	bill, err := dist.Pulsar("3.0.2")
//	jars, err := cache.Jars(ctx, bill)
//
// For containers the same jars become the context of an image build
// ([Jars.BuildContext]). On a machine that has Docker and no Maven a stage of
// that build runs Maven instead ([Bill.BuildStage]).
//
// # Layout of the cache
//
//	DIR/jars/KEY/*.jar           the jars; any other file is ignored
//	DIR/jars/KEY/manifest.json   name, size, sha256 and mtime of each jar
//	DIR/jars/KEY/pom.xml         what they were resolved from
//	DIR/jars/KEY.lock            held while KEY is made
//	DIR/jars/KEY.maven.log       Maven's last output for KEY
//	DIR/jars/maven.lock          held while Maven runs
//	DIR/jars/.KEY-*.part         being made, or left over from a killed process
//
// KEY holds a hash of the POM, so a directory never has to be updated: a bill
// that changes gets another one. A directory may be deleted at any time when no
// broker runs from it.
package dist
