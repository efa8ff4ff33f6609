// Package container runs the nodes of a broker as containers of the engine of
// this machine (Docker, or what speaks its API).
//
// The image of a node is a JRE base with the broker's jars in it; it is made
// once for a bill and a base and kept. A container is made at the first start
// of its node, and later starts start that same container: the data lies in
// its writable layer. Before each start the rendered files and a start script
// are copied in, so a base image needs no more than /bin/sh, env and java.
//
// Data that are limited in size lie on a tmpfs of that size instead. It lives as
// long as a container has it mounted, so a second one, which sleeps, keeps it while
// the node does not run; it also fills it, with cat, df and head of the base image.
//
// All ports are published on 127.0.0.1 alone, at numbers the engine chooses
// anew with each start. Containers and networks carry the label of the
// session, by which the supervisor removes them should this process be killed.
//
// The images are all labelled io.brokerfault=image; to be rid of them:
//
//	docker image prune --all --filter label=io.brokerfault=image
package container
