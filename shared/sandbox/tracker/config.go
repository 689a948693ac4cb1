package tracker

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"supportbot/shared/sandbox/fault"
)

// Config is what a Server is made of.
type Config struct {
	Token string // the robot's OAuth token
	// Exactly one of them names the organisation; both empty: OrgID "1".
	OrgID, CloudOrgID string

	Robot  User    // default "support-robot"
	Agents []User  // default one agent, "agent"
	Queues []Queue // default DefaultQueue("SUP")

	Statuses    []Status // default: Tracker's standard ones and a custom one
	Types       []Name
	Priorities  []Name
	Resolutions []Name

	// Lag is how long a write is missing from listings of comments and changes
	// and from search. Reading one issue or comment is always fresh.
	Lag time.Duration
	// Rate is calls per second before 429, after a burst of Burst; 0 = no limit.
	Rate  float64
	Burst int
	// VersionLimit is the version at which the robot's edits are refused with
	// 423; people have 1,000 more. Default 10,100.
	VersionLimit int64
	// SearchLimit is how many rows _search pages to. Default 10,000.
	SearchLimit int

	// Past lets calls tell of the past: see TimeHeader.
	Past bool

	Now    func() time.Time // default time.Now
	Log    *slog.Logger     // default: discard
	Faults *fault.Set       // default: its own
	Calls  *fault.Log       // default: its own
	Client *http.Client     // makes the triggers' calls; default: 10 s per call
}

// User is a person, or the robot. Token may be empty: then the user works only
// through Agent.
type User struct {
	ID    string
	Login string
	Name  string
	Token string
}

// Queue is a queue and its workflow.
type Queue struct {
	Key, Name       string
	Lead            string   // login; only the lead makes triggers and local fields. Default: the robot
	Types           []string // keys of the types enabled; default all
	DefaultType     string   // default the first type
	DefaultPriority string   // default "normal"
	Workflow        []Transition
	Fields          []string // keys of local fields, of type string
	// SLA is how long a ticket may take until it is resolved: a rule with one timer;
	// 0: none.
	SLA time.Duration
}

// Transition is a step of a workflow. Resolution: its screen requires one.
type Transition struct {
	ID, From, To string
	Resolution   bool
	RU, EN       string
}

// Status is a status; custom ones have no Type.
type Status struct {
	Key, Type, RU, EN string
}

// Name is an entry of a dictionary.
type Name struct {
	Key, RU, EN string
}

// DefaultQueue is a queue with DefaultWorkflow and the given local fields.
func DefaultQueue(key string, fields ...string) Queue {
	return Queue{Key: key, Name: "Support", Workflow: DefaultWorkflow(), Fields: fields}
}

// DefaultWorkflow is a support workflow: open, in progress, waiting for the
// customer or for a supplier, resolved, reopened, closed.
func DefaultWorkflow() []Transition {
	var w []Transition
	for _, from := range []string{"open", "reopened", "inProgress", "needInfo", "waitingSupplier"} {
		if from != "inProgress" {
			w = append(w, Transition{ID: "start_progress", From: from, To: "inProgress", RU: "В работу", EN: "Start progress"})
		}
		if from != "needInfo" {
			w = append(w, Transition{ID: "need_info", From: from, To: "needInfo", RU: "Требуется информация", EN: "Need info"})
		}
		if from != "waitingSupplier" {
			w = append(w, Transition{ID: "wait_supplier", From: from, To: "waitingSupplier", RU: "Ждём поставщика", EN: "Wait for supplier"})
		}
		w = append(w,
			Transition{ID: "resolve", From: from, To: "resolved", Resolution: true, RU: "Решить", EN: "Resolve"},
			Transition{ID: "close", From: from, To: "closed", Resolution: true, RU: "Закрыть", EN: "Close"})
	}
	return append(w,
		Transition{ID: "reopen", From: "resolved", To: "reopened", RU: "Переоткрыть", EN: "Reopen"},
		Transition{ID: "close", From: "resolved", To: "closed", Resolution: true, RU: "Закрыть", EN: "Close"},
		Transition{ID: "reopen", From: "closed", To: "reopened", RU: "Переоткрыть", EN: "Reopen"})
}

func (c Config) withDefaults() Config {
	if c.OrgID == "" && c.CloudOrgID == "" {
		c.OrgID = "1"
	}
	if c.Robot.Login == "" {
		c.Robot = User{ID: "1120000000000001", Login: "support-robot", Name: "Support Robot"}
	}
	if len(c.Agents) == 0 {
		c.Agents = []User{{ID: "1120000000000101", Login: "agent", Name: "Анна Агентова"}}
	}
	if len(c.Queues) == 0 {
		c.Queues = []Queue{DefaultQueue("SUP")}
	}
	orElse(&c.Statuses, defaultStatuses())
	orElse(&c.Types, defaultTypes())
	orElse(&c.Priorities, defaultPriorities())
	orElse(&c.Resolutions, defaultResolutions())
	if c.Burst < 1 {
		c.Burst = 1
	}
	if c.VersionLimit == 0 {
		c.VersionLimit = 10_100
	}
	if c.SearchLimit == 0 {
		c.SearchLimit = 10_000
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Faults == nil {
		c.Faults = &fault.Set{}
	}
	if c.Calls == nil {
		c.Calls = &fault.Log{}
	}
	if c.Client == nil {
		c.Client = &http.Client{Timeout: 10 * time.Second}
	}
	return c
}

func orElse[T any](list *[]T, fallback []T) {
	if len(*list) == 0 {
		*list = fallback
	}
}

func defaultStatuses() []Status {
	return []Status{
		{"open", "new", "Открыт", "Open"},
		{"needInfo", "paused", "Требуется информация", "Need info"},
		{"inProgress", "inProgress", "В работе", "In progress"},
		{"resolved", "done", "Решён", "Resolved"},
		{"reopened", "new", "Переоткрыт", "Reopened"},
		{"closed", "done", "Закрыт", "Closed"},
		{"cancelled", "cancelled", "Отменён", "Cancelled"},
		{"waitingSupplier", "", "Ждём поставщика", "Waiting for supplier"},
	}
}

func defaultTypes() []Name {
	return []Name{
		{"task", "Задача", "Task"}, {"bug", "Ошибка", "Bug"}, {"request", "Запрос", "Request"},
		{"incident", "Инцидент", "Incident"}, {"improvement", "Улучшение", "Improvement"},
		{"question", "Вопрос", "Question"},
	}
}

func defaultPriorities() []Name {
	return []Name{
		{"trivial", "Незначительный", "Trivial"}, {"minor", "Низкий", "Minor"}, {"normal", "Средний", "Normal"},
		{"critical", "Критичный", "Critical"}, {"blocker", "Блокер", "Blocker"},
	}
}

func defaultResolutions() []Name {
	return []Name{
		{"fixed", "Решён", "Fixed"}, {"wontFix", "Не будет исправлено", "Won't fix"},
		{"cantReproduce", "Не воспроизводится", "Can't reproduce"}, {"duplicate", "Дубликат", "Duplicate"},
		{"later", "Позже", "Later"}, {"successful", "Успешно", "Successful"}, {"dontDo", "Не делать", "Don't do"},
	}
}
