package linearizability

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

type kind int

const (
	lock kind = iota
	unlock
	push
	readSerial
	readOutput
)

func (k kind) String() string {
	return [...]string{"lock", "unlock", "push", "read serial", "read output"}[k]
}

// input is what a caller asks of a workspace. serial is that of a pushed state, whose output has the same value.
type input struct {
	kind      kind
	workspace int
	caller    int
	serial    int
}

func (i input) isRead() bool { return i.kind == readSerial || i.kind == readOutput }

type status int

const (
	done status = iota
	// The server has answered 409 or 412.
	refused
	// The server has answered 503, and that it has done nothing.
	notDone
	// No answer, or one that says that the outcome is not known.
	unknown
)

// output is the answer. serial is what a read has found, 0 for no state, or what a push has written.
type output struct {
	status status
	serial int
}

const nobody = -1

// state is the holder of the lock, and the serial of the current state.
type state struct {
	holder int
	serial int
}

// apply returns the state after the operation, and whether it takes effect.
func apply(s state, i input) (state, bool) {
	switch i.kind {
	case lock:
		return state{i.caller, s.serial}, s.holder == nobody
	case unlock:
		return state{nobody, s.serial}, s.holder == i.caller
	case push:
		return state{s.holder, i.serial}, s.holder == i.caller && i.serial > s.serial
	default:
		return s, true
	}
}

var model = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		for _, operation := range history {
			workspace := operation.Input.(input).workspace
			for len(parts) <= workspace {
				parts = append(parts, nil)
			}
			parts[workspace] = append(parts[workspace], operation)
		}
		return parts
	},
	Init: func() []any { return []any{state{holder: nobody}} },
	Step: func(before, asked, answered any) []any {
		s, i, o := before.(state), asked.(input), answered.(output)
		after, hasEffect := apply(s, i)
		switch {
		case o.status == unknown && hasEffect:
			return []any{s, after}
		case o.status == unknown:
			return []any{s}
		case i.isRead():
			if o.serial != s.serial {
				return nil
			}
			return []any{s}
		case (o.status == done) != hasEffect:
			return nil
		default:
			if !hasEffect {
				return []any{s}
			}
			return []any{after}
		}
	},
	DescribeOperation: func(asked, answered any) string {
		i, o := asked.(input), answered.(output)
		return fmt.Sprintf("%d: %v %d: %v %d", i.caller, i.kind, i.serial, o.status, o.serial)
	},
	DescribeState: func(s any) string { return fmt.Sprintf("held by %d, serial %d", s.(state).holder, s.(state).serial) },
}).ToModel()
