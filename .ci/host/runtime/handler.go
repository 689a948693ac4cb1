package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
)

// handler takes an event and gives what goes back to the caller, both JSON.
type handler func(ctx context.Context, event []byte) (json.RawMessage, error)

// handlerOf accepts the forms that are documented ("Request handler in Go"): an
// HTTP handler, a function or an object, and func([context][, body]) ([result,] error).
func handlerOf(symbol any) (handler, error) {
	switch f := symbol.(type) {
	case func(http.ResponseWriter, *http.Request):
		return serve(http.HandlerFunc(f)), nil
	case *http.Handler: // a variable is found as its address
		return serve(*f), nil
	case http.Handler:
		return serve(f), nil
	}
	v := reflect.ValueOf(symbol)
	t := v.Type()
	if t.Kind() != reflect.Func || t.NumOut() < 1 || t.NumOut() > 2 || t.Out(t.NumOut()-1) != errorType {
		return nil, fmt.Errorf("handler of type %s is of no documented form", t)
	}
	withContext := t.NumIn() > 0 && t.In(0) == contextType
	bodies := t.NumIn()
	if withContext {
		bodies--
	}
	if bodies > 1 {
		return nil, fmt.Errorf("handler of type %s takes more than a context and a body", t)
	}
	return func(ctx context.Context, event []byte) (json.RawMessage, error) {
		var in []reflect.Value
		if withContext {
			in = append(in, reflect.ValueOf(ctx))
		}
		if bodies == 1 {
			body, err := bodyOf(t.In(t.NumIn()-1), event)
			if err != nil {
				return nil, err
			}
			in = append(in, body)
		}
		return results(v.Call(in))
	}, nil
}

var (
	errorType   = reflect.TypeOf((*error)(nil)).Elem()
	contextType = reflect.TypeOf((*context.Context)(nil)).Elem()
	bytesType   = reflect.TypeOf([]byte(nil))
)

func bodyOf(t reflect.Type, event []byte) (reflect.Value, error) {
	switch {
	case t == bytesType:
		return reflect.ValueOf(event), nil
	case t.Kind() == reflect.String:
		return reflect.ValueOf(string(event)).Convert(t), nil
	}
	v := reflect.New(t) // of a pointer type: json makes what it points to
	if err := json.Unmarshal(event, v.Interface()); err != nil {
		return reflect.Value{}, fmt.Errorf("decode event: %w", err)
	}
	return v.Elem(), nil
}

func results(out []reflect.Value) (json.RawMessage, error) {
	if err, _ := out[len(out)-1].Interface().(error); err != nil {
		return nil, err
	}
	if len(out) == 1 {
		return nil, nil
	}
	return json.Marshal(out[0].Interface())
}
