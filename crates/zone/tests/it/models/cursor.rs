use stateright as _;
