package ycf

// Unavail is Unavailable with a log that a test can read.
var Unavail = unavailable
