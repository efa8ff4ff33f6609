package headstart

import (
	"bytes"
	"path/filepath"
	"strings"
)

// listSuffix ends the name of a list of classes.
const listSuffix = ".classes"

// Record is the JVM flag that writes the classes a program loads to a file.
func Record(file string) string { return "-XX:DumpLoadedClassList=" + file }

// Use are the JVM flags that start a program with an archive. A JVM that cannot
// use it goes on without.
func Use(archive string) []string {
	// It would tell of every jar that has changed since, on the broker's log.
	return []string{"-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:cds=off"}
}

// Dump are the arguments of the java that makes an archive of a list.
func Dump(list, archive, classPath string) []string {
	return []string{
		// As the brokers have it: the layout of objects depends on the heap's size.
		"-XX:+UseSerialGC", "-Xmx1g",
		"-Xshare:dump", "-XX:SharedClassListFile=" + list, "-XX:SharedArchiveFile=" + archive,
		"-cp", classPath,
	}
}

// Classes is the list of the classes that a program loads, by its main class,
// once it has been kept.
func (s Store) Classes(main string) (path string, there bool) {
	return s.path(main + listSuffix), s.sealed(main + listSuffix)
}

// KeepClasses keeps the list of a program that has no list yet.
func (s Store) KeepClasses(main string, list []byte) error {
	if _, there := s.Classes(main); there {
		return nil
	}
	// A JVM that was killed while it wrote leaves half a line.
	whole := list[:bytes.LastIndexByte(list, '\n')+1]
	if len(whole) == 0 {
		return nil
	}
	if err := s.write(main+listSuffix, whole); err != nil {
		return err
	}
	return s.seal(main + listSuffix)
}

// Lists are all lists that have been kept: path by main class.
func (s Store) Lists() map[string]string {
	found, _ := filepath.Glob(s.path("*" + listSuffix))
	lists := map[string]string{}
	for _, path := range found {
		main := strings.TrimSuffix(filepath.Base(path), listSuffix)
		if _, whole := s.Classes(main); whole {
			lists[main] = path
		}
	}
	return lists
}
