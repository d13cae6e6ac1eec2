// Package ahptest runs the cases of the protocol's own project, for tests: reducers, which
// fold actions into a state, and round trips, which read and write a value. They are not
// in this repository. TANDEMUX_AHP_TREE names a checkout of the project
// (types/test-cases in it is read); without it they are looked for in
// ../shared/fixtures/ahp beside the repository, and where neither is there the tests are
// skipped and say so.
//
// It knows no types of the protocol: a test says how actions are read, states written,
// and which of the families of cases it has. Package ahp has most of them; what lies
// below ahp runs its own family in the same way:
//
//	ahptest.Reducers(t, map[string]ahptest.Reducer{
//		"changeset": ahptest.Fold(ahp.DecodeAction, encode05, changeset.Reduce),
//	})
package ahptest
