//go:build js

// Program is the page's program: it runs in a worker, and turns messages into calls of package
// web/answer. A message is {id, call, stated, name, bytes, x, over, points, reached}; answers are
// {id, answer}, {id, error} and, while it works, {id, done, of} and {id, early}. A call that is not wanted any more
// is ended with its worker, since a program of one thread hears nothing while it solves.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"syscall/js"

	"github.com/darrm/darrm/web/answer"
)

// request is a message without its file.
type request struct {
	ID      int            `json:"id"`
	Call    string         `json:"call"`
	Stated  answer.Stated  `json:"stated"`
	Name    string         `json:"name"` // of the file
	Over    string         `json:"over"` // of a curve
	X       float64        `json:"x"`
	Points  []answer.Point `json:"points"`
	Reached float64        `json:"reached"`
}

func main() {
	// Little garbage is worth more than little memory, on one core.
	debug.SetGCPercent(400)
	js.Global().Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		data := args[0].Get("data")
		var file []byte
		if bytes := data.Get("bytes"); bytes.Truthy() {
			file = make([]byte, bytes.Get("length").Int())
			js.CopyBytesToGo(file, bytes)
		}
		text := data.Get("request").String()
		go serve(text, file) // not here: what waits for other goroutines must not hold the events
		return nil
	}))
	post(map[string]any{"ready": true})
	select {}
}

// serve answers one message.
func serve(text string, file []byte) {
	var r request
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		post(map[string]any{"error": err.Error()})
		return
	}
	a, err := call(r, file)
	if err != nil {
		post(map[string]any{"id": r.ID, "error": err.Error()})
		return
	}
	b, err := json.Marshal(a)
	if err != nil {
		post(map[string]any{"id": r.ID, "error": err.Error()})
		return
	}
	post(map[string]any{"id": r.ID, "answer": string(b)})
}

func post(message map[string]any) { js.Global().Call("postMessage", message) }

// call makes the one call of the library that a message asks for.
func call(r request, file []byte) (any, error) {
	ctx := context.Background()
	switch r.Call {
	case "limit":
		return struct {
			Beyond  *answer.Beyond `json:"beyond"`
			Meaning string         `json:"meaning"`
			Command string         `json:"command"`
		}{answer.TooLarge(r.Stated), answer.Meaning(r.Stated), answer.PlanCommand(r.Stated)}, nil
	case "plan":
		return answer.NewPlan(ctx, r.Stated, func(done, of int) {
			post(map[string]any{"id": r.ID, "done": done, "of": of})
		}, func(early *answer.Plan) {
			if b, err := json.Marshal(early); err == nil { // else the whole plan has the error
				post(map[string]any{"id": r.ID, "early": string(b)})
			}
		})
	case "axis":
		return answer.Axis(r.Stated, r.Over)
	case "point":
		return answer.NewPoint(ctx, r.Stated, r.Over, r.X)
	case "curve":
		return answer.DrawCurve(r.Stated, r.Over, r.Points, r.Reached)
	case "rows":
		return answer.FirstRows(ctx, r.Name, file)
	case "describe":
		return answer.Describe(ctx, r.Stated, r.Name, file)
	case "compare":
		return answer.Compare(ctx, r.Stated, r.Name, file)
	case "check":
		return answer.Check(ctx, file)
	case "step":
		return answer.NewStep(ctx, r.Stated, r.Name)
	}
	return nil, fmt.Errorf("call = %q, but the program has no such answer", r.Call)
}
