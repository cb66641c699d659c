package check

// GivenTolerance bounds by how much numbers that a person gives may miss a rule about several of
// them, such as a sum of 1, because they were rounded. What is farther off is refused: it is more
// likely a mistake than rounding.
const GivenTolerance = 1e-9
