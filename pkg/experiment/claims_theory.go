package experiment

var theoryClaims []claim
