"""Pages that study settings: features m, C and costs, convergence, low rank, kernel approximation, sweeps."""
