package labellaw

// BetaOf returns β and a of a law of two classes by the votes of class 1, under counts of those votes.
func BetaOf(prior, law []float64) (b, agrees float64) {
	var all []query
	k := len(law) - 1
	for ones, weight := range prior {
		q := query{counts: []int{k - ones, ones}, law: []float64{1 - law[ones], law[ones]}, weight: weight,
			most: float64(max(ones, k-ones)), named: 1}
		all = append(all, q)
	}
	return beta(all), channel(all, 2).Agrees
}
