package darrm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
	_ "github.com/darrm/darrm/ledger/postgres"
	"github.com/darrm/darrm/release"
)

// Labels for three queries of 25 teachers who promise nothing, each trained on its own part of the
// records. The ledger is charged once.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "darrm-example-")
	check(err)
	defer os.RemoveAll(dir)
	budget, err := ledger.NewBudget(5, 0)
	check(err)

	teachers := darrm.Teachers{K: 25, Affected: 1, Neighbours: darrm.ReplaceOne}
	m, err := darrm.Optimal(ctx, teachers, darrm.PerLabel(1))
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, filepath.Join(dir, "patients.ledger"), budget,
		darrm.ReplaceOne)
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile(filepath.Join(dir, "service.key")))
	check(err)

	votes := darrm.Counts{{1, 24}, {23, 2}, {0, 25}}
	march, err := r.Batch(ctx, "march", votes)
	check(err)
	again, err := r.Batch(ctx, "march", votes)
	check(err)
	fmt.Println(len(march.Labels), "labels cost", march.Cost)
	fmt.Println("again:", again.Replayed)
	left, err := book.Remaining(ctx)
	check(err)
	fmt.Println(left, "is left")
	// Output:
	// 3 labels cost (3, 0)
	// again: true
	// (2, 0) is left
}

// newExample returns a releaser for nine teachers who promise nothing, with a ledger of ε = 5, in a
// folder of its own.
func newExample(ctx context.Context, dir string) *darrm.Releaser {
	budget, err := ledger.NewBudget(5, 0)
	check(err)
	teachers := darrm.Teachers{K: 9, Affected: 1, Neighbours: darrm.ReplaceOne}
	m, err := darrm.Optimal(ctx, teachers, darrm.PerLabel(1))
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, filepath.Join(dir, "patients.ledger"), budget,
		darrm.ReplaceOne)
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile(filepath.Join(dir, "service.key")))
	check(err)
	return r
}

// One label at a time, as queries come. An id is answered once; who may ask again sends a replay
// key, and is given the same label for nothing.
func ExampleReleaser_Answer() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "darrm-example-")
	check(err)
	defer os.RemoveAll(dir)
	r := newExample(ctx, dir)

	votes := []int{1, 1, 1, 0, 1, 1, 1, 1, 1}
	_, err = r.Answer(ctx, "image-1", votes)
	check(err)
	_, err = r.Answer(ctx, "image-1", votes)
	fmt.Println("asked again without a key, refused:", errors.Is(err, ledger.ErrRefused))

	query := release.Query{ID: "image-2", Votes: votes, ReplayKey: strings.Repeat("5a", 16)}
	first, err := r.Online().Answer(ctx, query)
	check(err)
	again, err := r.Online().Answer(ctx, query)
	check(err)
	fmt.Println("with one, the same label:", first.Class == again.Class, again.Replayed)
	state, err := r.Online().State(ctx)
	check(err)
	fmt.Println(state.Remaining, "is left")
	// Output:
	// asked again without a key, refused: true
	// with one, the same label: true true
	// (3, 0) is left
}

// Which of four animals are in each of 100 pictures: 25 teachers vote by sets, of which the first two labels count.
// One charge pays for all questions, in any number of batches.
func ExampleSets() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "darrm-example-")
	check(err)
	defer os.RemoveAll(dir)
	budget, err := ledger.NewBudget(3, 1e-5)
	check(err)

	teachers := darrm.Teachers{K: 25, Affected: 1, Neighbours: darrm.ReplaceOne,
		Several: ensemble.Several{Labels: 4, MostYes: 2}} // cat, dog, fox, owl
	m, err := darrm.Optimal(ctx, teachers, darrm.Within(budget, 100))
	check(err)
	book, _, err := ledger.OpenOrCreate(ctx, filepath.Join(dir, "pictures.ledger"), budget,
		darrm.ReplaceOne)
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile(filepath.Join(dir, "service.key")))
	check(err)

	foxes := slices.Repeat([][]int{{2}, {0, 2}, {2, 3}, {}, {2}}, 5) // a set for each teacher
	march, err := r.Batch(ctx, "march", darrm.Sets{foxes, foxes, foxes})
	check(err)
	fmt.Println(len(march.Sets), "questions,", len(march.Sets[0]), "answers to each")
	_, err = r.Batch(ctx, "april", darrm.Sets{foxes})
	check(err)
	of, taken, _, err := r.Online().Taken(ctx, "")
	check(err)
	fmt.Println(taken, "of", of, "answers of the table are taken, 4 for each question")
	// Output:
	// 3 questions, 4 answers to each
	// 16 of 400 answers of the table are taken, 4 for each question
}

// A table that somebody else solved is proved again before it is used, and is for its teachers
// alone.
func ExampleReadTable() {
	ctx := context.Background()
	teachers := darrm.Teachers{K: 11, Epsilon: 0.1, Delta: 1e-5, Neighbours: darrm.ReplaceOne,
		Randomness: darrm.Frozen, Ensemble: "clinics"}
	table, err := os.ReadFile("testdata/table.json")
	check(err)
	m, err := darrm.ReadTable(ctx, teachers, bytes.NewReader(table))
	check(err)
	fmt.Println("one label:", m.PerLabel())

	teachers.Epsilon = 0.05
	_, err = darrm.ReadTable(ctx, teachers, bytes.NewReader(table))
	fmt.Println(err)
	// Output:
	// one label: (0.3, 2.9999700001e-05)
	// epsilon = 0.05, but the table is for 0.1
}

// One ledger for several machines: the import makes locations in PostgreSQL known, and nothing else
// changes. The secret is a file that every machine has.
func Example_postgres() {
	ctx := context.Background()
	budget, err := ledger.NewBudget(5, 1e-6)
	check(err)
	book, created, err := ledger.OpenOrCreate(ctx,
		"postgres://darrm@db.example/budgets?ledger=patients&secret=patients.secret", budget,
		darrm.ReplaceOne)
	check(err)
	log.Printf("%s, made now: %v", book.Path(), created)
	m, err := darrm.Optimal(ctx, darrm.Teachers{K: 9, Affected: 1, Neighbours: darrm.ReplaceOne},
		darrm.PerLabel(1))
	check(err)
	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile("service.key"))
	check(err)
	labels, err := r.Batch(ctx, "march", darrm.Counts{{1, 8}})
	check(err)
	log.Print(labels.Labels)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
