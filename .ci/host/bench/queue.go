package main

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net/http"
)

// takeAll stands for Message Queue as far as a start needs it: it takes every
// batch and forgets it.
func takeAll(w http.ResponseWriter, r *http.Request) {
	var batch struct {
		Entries []struct{ Id, MessageBody string }
	}
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		http.Error(w, "no batch", http.StatusBadRequest)
		return
	}
	taken := []map[string]string{}
	for _, e := range batch.Entries {
		taken = append(taken, map[string]string{
			"Id": e.Id, "MessageId": e.Id, "MD5OfMessageBody": fmt.Sprintf("%x", md5.Sum([]byte(e.MessageBody))),
		})
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(w).Encode(map[string]any{"Successful": taken, "Failed": []string{}})
}
