"""Settings from the pairs and the time: what an expert would have chosen, each with its reason.

Rules, not a search: they read a `Profile` of the pairs and how fast this machine trains. What a person sets wins over
them. Where each rule comes from and what was measured is in docs/log.md.

    corpus         before vocabularies are learned: family, pieces, shared vocabulary, invented pairs, maximum length
    optimization   once the pairs are ids: size, batch, rate, warm-up, schedule, beta2, regularisation, validations
    decide         both moments as a whole
"""
