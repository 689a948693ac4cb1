//go:build !linux

package builder

import (
	"context"
	"errors"
)

// Place is the builder's file system.
type Place struct{}

// NewPlace is an error: the cloud's plugins can be built only on Linux.
func NewPlace() (*Place, error) { return nil, errors.ErrUnsupported }

// Source is never called, nor are the other methods.
func (*Place) Source() string { return "" }

// Remove does nothing.
func (*Place) Remove() error { return nil }

// Measure is an error.
func (*Place) Measure(context.Context, string, string, bool, bool) (Usage, error) {
	return Usage{}, errors.ErrUnsupported
}
