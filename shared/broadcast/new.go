package broadcast

// New is a broadcast to be created. The key makes it one: repeated with the same
// fingerprint it is the same broadcast.
type New struct {
	Spec
	Key         string
	Fingerprint string
	By          string // see Broadcast.CreatedBy
	Parent      int64
	Relation    Relation
}
