package tracker

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// maxFile is the largest attachment, 1024 MB.
const maxFile = 1024 << 20

// receive reads the part "file" of a multipart body.
func (s *Server) receive(c *call) (*file, answer) {
	parts, err := c.r.MultipartReader()
	if err != nil {
		return nil, fail(http.StatusBadRequest, "Multipart is expected")
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, fail(http.StatusBadRequest, "The part 'file' is required")
		}
		if err != nil {
			return nil, malformed()
		}
		if part.FormName() != "file" {
			continue
		}
		name := c.query("filename")
		if name == "" {
			name = part.FileName()
		}
		data, fits, err := newBlob(part, maxFile)
		if err != nil {
			return nil, malformed()
		}
		if !fits {
			return nil, fail(http.StatusRequestEntityTooLarge, "The file is too large")
		}
		c.params = object{"filename": name, "file": object{"file": name, "size": data.size}}
		return &file{name: name, mime: mimeType(name), data: data, by: c.user}, answer{}
	}
}

func mimeType(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(name)), ";")
	if kind == "" {
		return "application/octet-stream"
	}
	return kind
}

// keep gives a file its id. The lock is held.
func (s *Server) keep(f *file) *file {
	f.id, f.created = s.nextNumber(), s.now()
	s.files[f.id] = f
	return f
}

// uploadFile is POST /v3/attachments: a temporary file.
func (s *Server) uploadFile(c *call) answer {
	f, a := s.receive(c)
	if f == nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads[s.keep(f).id] = f
	c.effect = true
	return created(c.fileJSON(c.base()+"/attachments/"+f.id, f))
}

// uploadToIssue is POST /v3/issues/{}/attachments.
func (s *Server) uploadToIssue(c *call) answer {
	f, a := s.receive(c)
	if f == nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withIssue(c, func(i *issue) answer {
		e, free := c.begin(s, i)
		if !free {
			return frozen()
		}
		e.attach([]*file{s.keep(f)})
		c.effect = e.commit()
		return created(c.filesJSON(i, []*file{f})[0])
	})
}

// takeUploads finds temporary files by their ids, which are texts or numbers.
func (s *Server) takeUploads(raw json.RawMessage) (files []*file, refusal string) {
	var ids []json.RawMessage
	if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, "Incorrect data format"
	}
	for _, id := range ids {
		ref := referenceOf(id)
		f := s.uploads[ref]
		if f == nil {
			return nil, "Attachment is not found: " + ref
		}
		files = append(files, f)
	}
	return files, ""
}

func (c *call) fileJSON(self string, f *file) object {
	return object{
		"self": self, "id": f.id, "name": f.name, "content": self + "/" + url.PathEscape(f.name),
		"createdBy": c.userRef(f.by), "createdAt": stamp(f.created), "mimetype": f.mime, "size": f.data.size,
		"metadata": object{"size": f.data.size},
	}
}

func (c *call) filesJSON(i *issue, files []*file) []object {
	list := make([]object, 0, len(files))
	for _, f := range files {
		out := c.fileJSON(c.base()+"/issues/"+i.key+"/attachments/"+f.id, f)
		if f.comment != "" {
			out["commentId"] = f.comment
		}
		list = append(list, out)
	}
	return list
}

func (s *Server) listFiles(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		var files []*file
		for _, f := range i.files {
			if !s.hidden(f.created) {
				files = append(files, f)
			}
		}
		return ok(c.filesJSON(i, files))
	})
}

func (i *issue) file(id string) *file {
	for _, f := range i.files {
		if f.id == id {
			return f
		}
	}
	return nil
}

func (s *Server) getFile(c *call) answer {
	return s.withIssue(c, func(i *issue) answer {
		f := i.file(c.args[1])
		if f == nil {
			return missing("Attachment", c.args[1])
		}
		return ok(c.filesJSON(i, []*file{f})[0])
	})
}

// download needs the file's name in the path.
func (s *Server) download(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withIssue(c, func(i *issue) answer {
		f := i.file(c.args[1])
		if f == nil || f.name != c.args[2] {
			return missing("Attachment", c.args[1]+"/"+c.args[2])
		}
		return answer{status: http.StatusOK, file: f}
	})
}
