package annotation

import "tandemux/ahp"

type (
	plainAnnotation Annotation
	plainUpdated    Updated
)

// As05 is an annotation as 0.5 has it.
func (n Annotation) As05() any {
	return struct {
		plainAnnotation
		Origin *Origin `json:"origin,omitempty"`
		TurnID string  `json:"turnId"`
	}{plainAnnotation(n), nil, n.Origin.TurnID}
}

// UnmarshalJSON accepts every version's form.
func (n *Annotation) UnmarshalJSON(b []byte) error {
	var w struct {
		plainAnnotation
		TurnID string `json:"turnId"`
	}
	if err := ahp.Unmarshal(b, &w); err != nil {
		return err
	}
	*n = Annotation(w.plainAnnotation)
	if n.Origin == (Origin{}) {
		n.Origin.TurnID = w.TurnID
	}
	return nil
}

// As05 is an update as 0.5 has it.
func (a Updated) As05() any {
	if a.Origin != nil {
		a.TurnID, a.Origin = &a.Origin.TurnID, nil
	}
	return struct {
		Type string `json:"type"`
		plainUpdated
	}{a.ActionType(), plainUpdated(a)}
}
