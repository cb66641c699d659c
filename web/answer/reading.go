package answer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

// Roles of a column, as the page states them of every column of a file, separated by commas.
const (
	voteRole, idRole, truthRole, noRole = "vote", "id", "truth", "-"
)

// previewed is the number of rows that the page shows of a file.
const previewed = 6

// FirstRows returns the first rows of a file of text, as they stand. They are not private.
func FirstRows(ctx context.Context, name string, data []byte) ([][]string, error) {
	o, err := ofName(name)
	if err != nil {
		return nil, err
	}
	return votes.FirstRows(ctx, bytes.NewReader(data), o, previewed)
}

// ofName returns the options of a file of this name. The browser has unpacked what was inside gzip.
func ofName(name string) (votes.Options, error) {
	o := votes.Options{Name: name, Compression: votes.CompressionNone}
	format, packed := votes.FormatOfName(name)
	text := []votes.Format{votes.FormatAuto, votes.FormatCSV, votes.FormatTSV, votes.FormatJSONL}
	if packed == votes.CompressionZstd || !slices.Contains(text, format) || votes.CheckName(name) != nil {
		return o, fmt.Errorf("%s: this page reads CSV, TSV and JSON Lines, also inside gzip: use darrm votes describe "+
			"and darrm compare", name)
	}
	o.Format = format
	return o, nil
}

// options returns the stated options of a file of votes: header, classes, and the role of each column.
func options(ctx context.Context, s Stated, name string, data []byte) (votes.Options, error) {
	o, err := ofName(name)
	if err != nil {
		return o, err
	}
	if s.has("header") {
		if err = o.Header.UnmarshalText([]byte(s["header"])); err != nil {
			return o, err
		}
	}
	if s.has("classes") {
		if o.Classes, err = votes.ParseColumns(s["classes"]); err != nil { // a name with a comma stands in quotes
			return o, err
		}
	}
	if s.has("roles") {
		err = setRoles(ctx, &o, strings.Split(s["roles"], ","), name, data)
	}
	return o, err
}

// setRoles states the role of each column: by its place in a table, by its key in JSON Lines.
func setRoles(ctx context.Context, o *votes.Options, roles []string, name string, data []byte) error {
	rows, err := FirstRows(ctx, name, data)
	if err != nil {
		return err
	}
	if len(rows[0]) != len(roles) {
		return check.Wantf("number of roles", len(roles), "%d, one for each column", len(rows[0]))
	}
	var keys, line []string // of JSON Lines, and the first line's values
	if o.Format == votes.FormatJSONL {
		keys, line = rows[0], rows[1]
	}
	column := func(at int) string {
		if keys != nil {
			return keys[at]
		}
		return "#" + strconv.Itoa(at+1)
	}
	o.IDColumn, o.LabelColumn = votes.NoColumn, votes.NoColumn
	var places []int
	for at, role := range roles {
		switch role {
		case voteRole:
			places = append(places, at)
		case idRole:
			o.IDColumn = column(at)
		case truthRole:
			o.LabelColumn = column(at)
		case noRole:
		default:
			return check.Want("role", strconv.Quote(role), "vote, id, truth or -")
		}
	}
	if len(places) == 0 {
		return errors.New("no column is stated to hold votes")
	}
	switch {
	case len(keys) > 0 && len(places) == 1 && strings.HasPrefix(line[places[0]], "["):
		o.VotesColumn = keys[places[0]]
		return nil
	case len(keys) > 0:
		for _, at := range places {
			o.VoteColumns = append(o.VoteColumns, keys[at])
		}
		return nil
	}
	for i := 0; i < len(places); { // places that follow each other are one range
		j := i
		for j+1 < len(places) && places[j+1] == places[j]+1 {
			j++
		}
		if j-i < 2 {
			o.VoteColumns = append(o.VoteColumns, column(places[i]))
			i++
			continue
		}
		o.VoteColumns = append(o.VoteColumns, column(places[i])+".."+column(places[j]))
		i = j + 1
	}
	return nil
}

// rolesOf returns the role that was found for each column of a file; nil where votes are not in columns.
func rolesOf(found votes.Roles, first []string) []string {
	if found.Layout != votes.LayoutWide.String() || found.In != "columns" && found.In != "positions" && found.In != "list" {
		return nil
	}
	roles := slices.Repeat([]string{noRole}, len(first))
	state := func(column, role string) bool {
		for at, name := range first {
			name = strings.TrimSpace(name)
			if found.In == "positions" {
				name = strconv.Itoa(at + 1)
			}
			if name == column || column == votes.Nameless && name == "" {
				roles[at] = role
				return true
			}
		}
		return false
	}
	for _, column := range found.Votes {
		if !state(column, voteRole) {
			return nil
		}
	}
	for column, role := range map[string]string{found.ID: idRole, found.Truth: truthRole} {
		if column != "" && !state(column, role) {
			return nil
		}
	}
	return roles
}
