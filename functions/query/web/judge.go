package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Judging lets judges mark results (see package judgment). If there are no keys, nobody can sign
// in, and the paths below do not exist:
//
//	GET  /judge                  a form to sign in by a key, or to sign out
//	POST /judge                  signs in by a cookie if the form has a key, else signs out
//	POST /judgments?q=&from=     stores the grades that the judge has changed on this page of results;
//	                             for each result, the form has the fields url, grade ("" for none),
//	                             and was (the grade when the page was made)
//
// A form that another site sends is refused.
type Judging struct {
	Keys   judgment.Keys
	Bucket blob.Bucket // bucket in which judgments are stored
}

const (
	judgeCookie = "judge"
	judgeTime   = 30 * 24 * time.Hour // time after which a judge must sign in again
	maxForm     = 1 << 20             // greatest size of a form, in bytes
)

// judgeRoutes adds the paths for judges (see Judging).
func (s *siteHandler) judgeRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /judge", s.serve(s.judgePage))
	mux.HandleFunc("POST /judge", s.serve(ownForm(s.signIn)))
	mux.HandleFunc("POST /judgments", s.serve(ownForm(s.judge)))
}

// ownForm wraps a function that handles the form in a request. The returned function refuses a form
// that another site sends. Else it parses the form, and calls the given function.
func ownForm(action func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	own := http.NewCrossOriginProtection()
	return func(w http.ResponseWriter, r *http.Request) error {
		forJudge(w)
		if own.Check(r) != nil {
			return request.Failure{Status: http.StatusForbidden, Sentence: "This form comes from another site; open this site and send it from there."}
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return request.Wrong("The form cannot be read; send at most %d bytes, as browsers do.", maxForm)
		}
		return action(w, r)
	}
}

// forJudge sets the headers of an answer that is only for a judge. Caches must not store such an
// answer. The answer may contain a form. When the judge sends the form, ownForm refuses it unless
// the browser says that it comes from this site. So the referrer policy must allow browsers to say
// this.
func forJudge(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin")
}

// judgeOf returns the name of the judge who sends a request, as its cookie proves; "" if the
// request is not from a judge.
func (s *siteHandler) judgeOf(r *http.Request) string {
	cookie, err := r.Cookie(judgeCookie)
	if err != nil {
		return ""
	}
	name, err := s.Judging.Keys.Recognise(cookie.Value, s.Engine.Now())
	if err != nil {
		return ""
	}
	return name
}

// judgePageData is the data of the template for the page on which judges sign in and out.
type judgePageData struct {
	Box   box
	Judge string // name of the judge who is signed in; "" if nobody is
}

func (s *siteHandler) judgePage(w http.ResponseWriter, r *http.Request) error {
	forJudge(w)
	return s.render(w, r, http.StatusOK, "judge", judgePageData{Box: s.box(""), Judge: s.judgeOf(r)})
}

// signIn signs a judge in if the form contains a key, and out if it contains none. It refuses a
// wrong key.
func (s *siteHandler) signIn(w http.ResponseWriter, r *http.Request) error {
	cookie := &http.Cookie{
		Name: judgeCookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: request.IsSecure(r), MaxAge: -1,
	}
	to := "/judge"
	if r.PostForm.Has("key") {
		name, known := s.Judging.Keys.Judge(r.PostForm.Get("key"))
		if !known {
			s.Engine.Log.WarnContext(r.Context(), "somebody tried to sign in as a judge with a wrong key")
			return request.Failure{Status: http.StatusForbidden, Sentence: "This is not the key of a judge."}
		}
		cookie.Value = s.Judging.Keys.Token(name, s.Engine.Now().Add(judgeTime))
		cookie.MaxAge = int(judgeTime / time.Second)
		to = "/"
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// judge stores the grades that the judge has changed in the form, and redirects back to the page of
// results. It leaves out pages that takedowns have covered since the form was made.
func (s *siteHandler) judge(w http.ResponseWriter, r *http.Request) error {
	name := s.judgeOf(r)
	if name == "" {
		return request.Failure{Status: http.StatusForbidden, Sentence: "Nothing was saved: you are not signed in as a judge. Sign in at /judge, then mark the results again."}
	}
	now := s.Engine.Now()
	q, err := request.Query(r, now)
	if err != nil {
		return err
	}
	if q.Text == "" {
		return request.Wrong("The query that was judged is missing.")
	}
	marks, err := marksOf(r)
	if err != nil {
		return err
	}
	inForce, err := s.Engine.Settings.Get(r.Context())
	if err != nil {
		return err
	}
	sheet, _ := judgment.Sheet{Judge: name, At: now, Query: judgedQuery(q), Marks: marks}.Forget(&inForce.Takedowns)
	if len(sheet.Marks) > 0 {
		if err := judgment.Put(r.Context(), s.Judging.Bucket, sheet); err != nil {
			return err
		}
	}
	http.Redirect(w, r, pageAddress(q, q.From), http.StatusSeeOther)
	return nil
}

// judgedQuery returns the parts of a query that are stored with a judge's grade.
func judgedQuery(q engine.Query) judgment.Query {
	return judgment.Query{
		Text: q.Text, Site: q.Site, Lang: q.Lang, Collection: q.Collection, Type: q.Type, After: q.After, Before: q.Before,
	}
}

// marksOf returns the marks that the judge has changed in a form: those whose grade differs from
// the one that the result had when the form was made.
func marksOf(r *http.Request) (marks []judgment.Mark, err error) {
	pages, grades, before := r.PostForm["url"], r.PostForm["grade"], r.PostForm["was"]
	if len(grades) != len(pages) || len(before) != len(pages) || len(pages) > judgment.MaxMarks {
		return nil, request.Wrong("The form has %d addresses and %d grades; send one grade for each address, %d at most.", len(pages), len(grades), judgment.MaxMarks)
	}
	known := make(map[string]bool)
	for i, page := range pages {
		if grades[i] == before[i] {
			continue
		}
		a, err := address.Parse(page)
		if err != nil || known[a.URL] {
			return nil, request.Wrong("%.200q is no web address, or is there twice.", page)
		}
		known[a.URL] = true
		grade := judgment.Withdrawn
		if grades[i] != "" {
			if grade, err = strconv.Atoi(grades[i]); err != nil || grade < 0 || grade > judgment.Best {
				return nil, request.Wrong("The grade %.20q does not exist; there are 0 to %d.", grades[i], judgment.Best)
			}
		}
		marks = append(marks, judgment.Mark{URL: a.URL, Grade: grade})
	}
	return marks, nil
}

// judgeView is the form of a judge on a page of results.
type judgeView struct {
	Judge, Action string
	// Shown is the number of results on the page. Marked is the number of those among them that the
	// judge has marked.
	Marked, Shown int
}

// markView has the data by which a judge marks a result: its address, its present grade, and the
// grades to choose from.
type markView struct {
	URL, Was string
	Grades   []gradeView
}

type gradeView struct {
	Value, Name string // Name is the key of the message that is the name of the grade
	Chosen      bool
}

// offerMarks adds to a page of results the fields by which a judge grades them. It adds nothing if
// no judge is signed in, or if the results are images or of a past state, which cannot be judged.
func (s *siteHandler) offerMarks(w http.ResponseWriter, r *http.Request, q engine.Query, page *resultsPage) error {
	if s.Judging.Keys.Empty() {
		return nil
	}
	w.Header().Add("Vary", "Cookie")
	name := s.judgeOf(r)
	if name == "" || page.Images || !q.AsOf.IsZero() || len(page.Hits) == 0 {
		return nil
	}
	forJudge(w)
	inForce, err := s.Engine.Settings.Get(r.Context())
	if err != nil {
		return err
	}
	judged, unread, err := judgment.Of(r.Context(), s.Judging.Bucket, judgedQuery(q), &inForce.Takedowns)
	for _, err := range unread {
		s.Engine.Log.ErrorContext(r.Context(), "judgments cannot be read: repair them by bucketsearch verify --repair", "error", err)
	}
	if err != nil {
		s.Engine.Log.ErrorContext(r.Context(), "cannot show judgments", "error", err)
		page.Notes = append(page.Notes, "Your judgments cannot be read at the moment, so that you cannot judge here.")
		return r.Context().Err()
	}
	grades := judged.By(name)
	page.Judge = &judgeView{Judge: name, Action: "/judgments" + strings.TrimPrefix(pageAddress(q, q.From), "/search"), Shown: len(page.Hits)}
	for i := range page.Hits {
		mark := &markView{URL: page.Hits[i].URL}
		if _, err := address.Parse(mark.URL); err != nil {
			continue // a mail address; judgments are on pages
		}
		grade, marked := grades[mark.URL]
		if marked {
			mark.Was = strconv.Itoa(grade)
			page.Judge.Marked++
		}
		for value := judgment.Best; value >= 0; value-- {
			mark.Grades = append(mark.Grades, gradeView{strconv.Itoa(value), "grade " + strconv.Itoa(value), marked && value == grade})
		}
		page.Hits[i].Mark = mark
	}
	return nil
}
