package shuffled

// RaceEnabled is for the tests outside the package.
const RaceEnabled = raceEnabled
