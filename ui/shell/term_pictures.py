"""A small picture of each term: SVG of 40 × 20 units, drawn in grey lines."""

from __future__ import annotations

PICTURES = {
    "Query": '<circle cx="15" cy="9" r="6"/><path d="M20 13l8 6"/>',
    "Document": '<path d="M12 2h12l4 4v12H12zM16 8h8M16 12h8"/>',
    "Grade": '<path d="M6 18V13M16 18V9M26 18V4" stroke-width="4"/>',
    "Preference pair": '<path d="M6 5h28M6 15h16"/><path d="M36 15V6m-3 3 3-3 3 3"/>',
    "Score": '<path d="M2 4h34M2 10h22M2 16h12" stroke-width="3"/>',
    "RankSVM": (
        '<path d="M4 17L34 3"/><circle cx="12" cy="6" r="2.5" fill="gray"/><circle cx="26" cy="15" r="2.5"/>'
    ),
    "Nyström": '<circle cx="20" cy="10" r="3" fill="gray"/><path d="M4 4l16 6 14-7M6 17l14-7 12 8"/>',
    "Random Fourier features": '<path d="M1 10C5-4 9-4 13 10s8 14 12 0 8-14 13 0"/>',
    "Fold": '<path d="M2 6h22v8H2z" fill="gray"/><path d="M24 6h7v8h-7zM31 6h7v8h-7z"/>',
    "NDCG@k": '<path d="M4 18V2M11 18V8M18 18V11M25 18V13M32 18V14" stroke-width="4"/>',
    "95 % interval": '<path d="M5 10h30M5 6v8M35 6v8"/><circle cx="20" cy="10" r="2.5" fill="gray"/>',
    "Paired interval": (
        '<path d="M5 10h22M5 6v8M27 6v8M34 2v16"/><circle cx="16" cy="10" r="2.5" fill="gray"/>'
    ),
    "Margin": (
        '<path d="M4 12h32M13 5h13m-3-2 3 2-3 2"/><circle cx="10" cy="12" r="3"/>'
        '<circle cx="29" cy="12" r="3"/>'
    ),
    "C": '<path d="M3 16C12 2 22 2 37 5"/><path d="M3 17C14 12 26 11 37 10" stroke-dasharray="3 2"/>',
    "γ": (
        '<path d="M2 18C14 18 15 2 20 2s6 16 18 16"/>'
        '<path d="M2 13C10 9 14 6 20 6s10 3 18 7" stroke-dasharray="3"/>'
    ),
    "m": '<path d="M4 4v12M10 4v12M16 4v12M22 4v12M28 4v12M34 4v12" stroke-width="2"/>',
    "Landmark": (
        '<circle cx="20" cy="10" r="4" fill="gray"/><circle cx="7" cy="5" r="2"/>'
        '<circle cx="33" cy="6" r="2"/>'
    ),
    "Kernel": '<path d="M2 18C14 18 14 3 20 3s6 15 18 15"/>',
    "Kernel approximation K̃": '<path d="M6 2h12v16H6zM6 10h12M12 2v16M26 2v16M32 2v16M24 5h10M24 15h10"/>',
    "Hinge": '<path d="M3 3L24 17H38"/>',
    "Objective": '<path d="M3 3C9 22 27 22 36 3"/>',
    "Newton step": (
        '<path d="M3 2C9 20 27 20 36 2"/><circle cx="8" cy="11" r="2" fill="gray"/><path d="M10 12l9 4"/>'
    ),
    "Weights w": '<path d="M4 10h32M9 10V3M17 10v6M25 10V6M32 10v4" stroke-width="2"/>',
    "Sweep": '<path d="M6 2h28v16H6zM6 7h28M6 12h28M15 2v16M25 2v16"/>',
    "Duality gap": '<path d="M2 3C12 9 24 9 38 9M2 18C12 12 24 11 38 11"/>',
    "Spectrum": '<path d="M4 18V2M10 18V9M16 18V14M22 18V16M28 18V17" stroke-width="4"/>',
    "Dual variable": (
        '<path d="M8 2h24v16H8zM8 7h24M8 12h24M16 2v16M24 2v16"/><path d="M8 2h8v5H8z" fill="gray"/>'
    ),
    "Rank": '<path d="M4 3v14M8 3v14" stroke-width="2"/><path d="M14 6h20M14 10h20" stroke-width="2"/>',
    "MeanNDCG": (
        '<path d="M4 18V2M11 18V8M18 18V11M25 18V13M32 18V14" stroke-width="4"/><path d="M1 9h38"/>'
    ),
    "MAP": '<path d="M2 16C8 4 14 16 20 9s12 0 18-5"/><path d="M2 11h36" stroke-dasharray="3 2"/>',
    "P@k": (
        '<path d="M1 3h24v14H1z"/><circle cx="6" cy="10" r="2.5" fill="gray"/>'
        '<circle cx="13" cy="10" r="2.5"/><circle cx="20" cy="10" r="2.5" fill="gray"/>'
        '<circle cx="31" cy="10" r="2.5"/>'
    ),
    "ERR@k": '<path d="M3 4h8v4h8v4h8v4h8"/><circle cx="23" cy="9" r="2.5" fill="gray"/>',
    "RBP": '<path d="M3 18V2M10 18V7M17 18v-7M24 18v-4M31 18v-2M37 18v-1" stroke-width="3"/>',
    "RR": (
        '<circle cx="5" cy="10" r="3"/><circle cx="14" cy="10" r="3"/>'
        '<circle cx="24" cy="10" r="4" fill="gray"/><circle cx="34" cy="10" r="3"/>'
    ),
    "R@k": (
        '<circle cx="6" cy="6" r="2.5" fill="gray"/><circle cx="14" cy="6" r="2.5" fill="gray"/>'
        '<path d="M1 1h18v10H1z"/><circle cx="28" cy="14" r="2.5" fill="gray"/>'
    ),
    "Rprec": (
        '<path d="M1 4h19v12H1z"/><circle cx="6" cy="10" r="2.5" fill="gray"/>'
        '<circle cx="14" cy="10" r="2.5"/><circle cx="27" cy="10" r="2.5" fill="gray"/>'
    ),
    "Bpref": (
        '<circle cx="8" cy="5" r="3"/><circle cx="8" cy="15" r="3" fill="gray"/>'
        '<path d="M14 15h16V5m-3 3 3-3 3 3"/>'
    ),
    "PairAccuracy": '<path d="M3 6l4 5 7-9M22 4l8 8m0-8l-8 8" stroke-width="2"/><path d="M3 17h34"/>',
    "Paired randomisation test": (
        '<path d="M2 18C14 18 14 3 20 3s6 15 18 15"/><path d="M31 2v16" stroke-dasharray="3 2"/>'
    ),
    "Holm's correction": (
        '<path d="M3 17h6v-3h6v-3h6V8h6V5h10"/><circle cx="24" cy="14" r="2" fill="gray"/>'
    ),
    "Adjusted for the choice": (
        '<circle cx="5" cy="15" r="2"/><circle cx="12" cy="11" r="2"/><circle cx="19" cy="13" r="2"/>'
        '<circle cx="26" cy="5" r="3" fill="gray"/><path d="M35 3v12m-3-3 3 3 3-3"/>'
    ),
    "Within one standard error": (
        '<path d="M2 7h36" stroke-dasharray="3 2"/><path d="M12 1v12M9 1h6M9 13h6"/>'
        '<circle cx="12" cy="7" r="2"/><circle cx="27" cy="5" r="2.5" fill="gray"/>'
    ),
    "One standard error": '<path d="M20 2v16M16 2h8M16 18h8"/><circle cx="20" cy="10" r="3" fill="gray"/>',
    "Shapley value": '<path d="M2 17h8v-4h8V9h8V3h8"/><path d="M18 13V9" stroke-width="4"/>',
    "Cell of a sweep": (
        '<path d="M6 2h28v16H6zM6 7h28M6 12h28M15 2v16M25 2v16"/><path d="M15 7h10v5H15z" fill="gray"/>'
    ),
    "Sobol points": (
        '<path d="M10 1h20v18H10z"/><circle cx="15" cy="5" r="1.5"/><circle cx="25" cy="7" r="1.5"/>'
        '<circle cx="20" cy="10" r="1.5"/><circle cx="14" cy="13" r="1.5"/>'
        '<circle cx="26" cy="15" r="1.5"/>'
    ),
    "Study": '<path d="M2 4h14v5H2zM2 12h14v5H2zM22 4h14v5H22zM22 12h14v5H22z"/>',
    "Digest": '<path d="M4 8h32M4 14h32M13 3l-3 15M25 3l-3 15" stroke-width="1.5"/>',
    "Energy": '<path d="M2 18C4 6 10 3 38 2V18z" fill="gray"/>',
    "Flipped grade": (
        '<path d="M8 18V13M32 18V4" stroke-width="4"/><path d="M12 9c5-5 10-5 15-2m-4-1 4 1-1-4"/>'
    ),
    "CG iteration": '<path d="M3 3l8 12 7-7 6 5 5-3"/><circle cx="31" cy="10" r="2.5" fill="gray"/>',
    "Product": '<path d="M2 3h14v14H2zM7 3v14M11 3v14M21 7l5 6m0-6l-5 6M33 3v14" stroke-width="1.5"/>',
    "Feature": '<path d="M12 2h16v16H12zM15 6h7M15 10h10M15 14h4"/>',
    "Gain": '<path d="M4 18v-1M14 18v-4M24 18v-8M34 18V2" stroke-width="5"/>',
    "Discount": '<path d="M2 2C4 10 12 14 38 16"/><path d="M2 2v16h36"/>',
    "Cut-off": (
        '<path d="M4 3h24M4 7h24M4 15h24M4 18h24"/>'
        '<path d="M1 11h38" stroke-dasharray="3 2" stroke-width="2"/>'
    ),
    "Tie": '<path d="M4 5h20M4 15h20" stroke-width="3"/><path d="M30 8h8M30 12h8"/>',
    "Validation": '<path d="M2 6h22v8H2z"/><path d="M24 6h7v8h-7z" fill="gray"/><path d="M31 6h7v8h-7z"/>',
    "Normalisation": '<path d="M3 18V2M9 18v-4M19 10h4m-2-2 2 2-2 2M30 18V6M36 18V6" stroke-width="2"/>',
    "Loss": '<path d="M3 2L22 17H38"/><path d="M22 2v16" stroke-dasharray="2 2"/>',
    "Logistic loss": '<path d="M3 3C14 11 20 16 38 17"/>',
    "Gradient": '<path d="M3 17C12 17 22 13 34 2"/><path d="M14 15l11-7m-4 0 4 0-1 4" stroke-width="2"/>',
    "Solver": '<path d="M3 2C9 22 27 22 36 2"/><path d="M6 6l5 6 5 3 4 1" stroke-dasharray="3 2"/>',
    "Preconditioner": (
        '<ellipse cx="11" cy="10" rx="10" ry="3"/><path d="M23 10h4m-2-2 2 2-2 2"/>'
        '<circle cx="34" cy="10" r="5"/>'
    ),
    "Regularisation": (
        '<circle cx="20" cy="10" r="8"/><path d="M20 10l12-7" stroke-dasharray="2 2"/>'
        '<path d="M20 10l6-4" stroke-width="2"/>'
    ),
    "Frequency": '<path d="M1 6q3-8 6 0t6 0 6 0 6 0 6 0 6 0"/><path d="M1 15q9-6 18 0t18 0"/>',
    "Residual": '<path d="M2 16C12 2 26 2 38 12"/><path d="M2 16l36-7M12 7v7M20 5v7M28 7v4"/>',
    "Relative error": '<path d="M4 3h32M4 17h32" stroke-width="2"/><path d="M4 10h10" stroke-width="5"/>',
    "Effective dimension": (
        '<path d="M4 18V2M10 18V5M16 18v-9M22 18v-4M28 18v-2M34 18v-1" stroke-width="3"/>'
        '<path d="M19 2v16" stroke-dasharray="2 2"/>'
    ),
    "Nuclear norm": (
        '<path d="M4 18V3M10 18V9M16 18v-5" stroke-width="3"/>'
        '<path d="M22 10h6m-3-3v6M34 18V3" stroke-width="2"/>'
    ),
    "p-value": (
        '<path d="M2 18C14 18 14 3 20 3s6 15 18 15"/><path d="M28 12c2 4 4 6 10 6H28z" fill="gray"/>'
    ),
    "Rank correlation": '<path d="M8 3l24 0M8 9l24 8M8 17L32 9"/>',
    "λ": '<path d="M6 6h26M6 15h10" stroke-width="4"/>',
    "μ": '<circle cx="10" cy="10" r="7"/><circle cx="30" cy="10" r="3"/>',
    "Seed": (
        '<path d="M11 2h16v16H11z"/><circle cx="15" cy="6" r="1.5" fill="gray"/>'
        '<circle cx="19" cy="10" r="1.5" fill="gray"/><circle cx="23" cy="14" r="1.5" fill="gray"/>'
    ),
    "LETOR": '<path d="M6 2h20v16H6zM10 6h12M10 10h12M10 14h6"/><path d="M31 4v12m-3-3 3 3 3-3"/>',
    "Frobenius norm": (
        '<path d="M4 2v16M36 2v16" stroke-width="2"/>'
        '<path d="M10 3h8v6h-8zM22 3h8v6h-8zM10 11h8v6h-8zM22 11h8v6h-8z" fill="gray"/>'
    ),
    "Baseline": '<path d="M2 14h36" stroke-dasharray="4 2"/><path d="M2 16C12 12 20 6 38 3"/>',
    "Influence": '<circle cx="8" cy="10" r="5"/><path d="M14 10h16m-4-4 4 4-4 4" stroke-width="2"/>',
    "Linear model": '<path d="M6 17L33 4m-5 0h5v5"/><path d="M10 3l3 7M22 10l3 6" stroke-dasharray="2"/>',
    "Feature map": (
        '<path d="M3 6h7M3 14h7"/><path d="M13 10h9m-3-3 3 3-3 3M26 3h11M26 8h8M26 13h11M26 18h5"/>'
    ),
    "Training part": '<path d="M2 6h22v8H2z" fill="gray"/><path d="M24 6h14v8H24z" stroke-dasharray="2"/>',
    "Test part": '<path d="M2 6h28v8H2z" stroke-dasharray="2"/><path d="M30 6h8v8h-8z" fill="gray"/>',
    "Costs of pairs": (
        '<path d="M4 5h32" stroke-width="4"/><path d="M4 11h32" stroke-width="2"/><path d="M4 16h32"/>'
    ),
    "Active pair": '<path d="M2 2L18 17H38"/><circle cx="10" cy="9.5" r="3" fill="gray"/>',
    "Iteration": (
        '<path d="M4 3l10 9M14 12l10 4M24 16l11 1"/><circle cx="14" cy="12" r="2"/>'
        '<circle cx="24" cy="16" r="2"/>'
    ),
    "Tolerance": '<path d="M3 3C10 15 18 17 38 17"/><path d="M2 13h36" stroke-dasharray="3 2"/>',
    "Optimum": '<path d="M4 3c8 19 24 19 32 0"/><circle cx="20" cy="16" r="2.5" fill="gray"/>',
    "Significant": '<path d="M8 2v16" stroke-dasharray="2"/><path d="M14 10h20M14 6v8M34 6v8"/>',
    "Pointwise, pairwise, listwise": (
        '<path d="M5 10h4M16 7h4M16 13h4M28 3h6M28 8h6M28 13h6M28 18h6" stroke-width="3"/>'
    ),
    "Boosted trees": (
        '<path d="M8 3v5L4 14M8 8l4 6M22 3v5l-4 6M22 8l4 6M13 5h5M27 5h4M35 3v5l-3 6M35 8l3 6"/>'
    ),
    "Newton decrement": (
        '<path d="M3 3C9 21 27 21 36 3M9 12h26M20 17h15"/><path d="M33 12v5" stroke-width="3"/>'
    ),
    "Convex": '<path d="M5 3C12 22 28 22 35 3"/><path d="M8 9L32 9" stroke-dasharray="2"/>',
    "Block of α": (
        '<path d="M4 3v14M4 3h3M4 17h3M36 3v14M36 3h-3M36 17h-3"/>'
        '<path d="M12 7h16M12 13h9" stroke-width="4"/>'
    ),
    "Factorised model": '<path d="M3 3h12v14H3zM23 3h3v14h-3zM29 3h9v3h-9z"/><path d="M17 9h4M17 12h4"/>',
    "Principal component": (
        '<path d="M4 17L36 3m-5 0h5v4"/><circle cx="12" cy="12" r="2"/><circle cx="19" cy="12" r="2"/>'
        '<circle cx="24" cy="7" r="2"/>'
    ),
    "Learning curve": '<path d="M3 2v16h34M5 16C9 7 18 5 36 4"/>',
    "Refit": '<path d="M27 10a8 7 0 1 1-3-6m0-3v4h-4"/>',
    "Correlation": (
        '<circle cx="8" cy="15" r="2"/><circle cx="15" cy="13" r="2"/><circle cx="20" cy="8" r="2"/>'
        '<circle cx="27" cy="8" r="2"/><circle cx="33" cy="3" r="2"/>'
    ),
    "Median": (
        '<circle cx="6" cy="10" r="2"/><circle cx="11" cy="10" r="2"/><circle cx="27" cy="10" r="2"/>'
        '<circle cx="35" cy="10" r="2"/><path d="M18 3v14" stroke-width="2"/>'
    ),
    "Quartile": '<path d="M3 10h9M12 4h16v12H12zM20 4v12M28 10h9"/>',
    "Standard deviation": (
        '<path d="M2 18C14 18 15 2 20 2s6 16 18 16"/><path d="M13 11h14M13 8v6M27 8v6" stroke-width="2"/>'
    ),
    "Eigenvalue": '<path d="M4 17l9-4m-3-1 3 1-1 3M18 17L36 5m-4 0h4v4" stroke-width="2"/>',
    "Singular value": (
        '<path d="M3 2h3v16H3zM9 2h12v3H9z"/><path d="M26 18V3M31 18v-6M36 18v-2" stroke-width="3"/>'
    ),
    "Matrix": '<path d="M8 2H5v16h3M32 2h3v16h-3M11 6h4M18 6h4M25 6h4M11 14h4M18 14h4M25 14h4"/>',
    "Inverse": '<path d="M6 7h22m-4-4 4 4-4 4M34 14H12m4-4-4 4 4 4"/>',
    "Trace": (
        '<path d="M10 1h18v18H10zM16 1v18M22 1v18M10 7h18M10 13h18"/>'
        '<path d="M10 1h6v6h-6zM16 7h6v6h-6zM22 13h6v6h-6z" fill="gray"/>'
    ),
    "k-means++": (
        '<circle cx="7" cy="5" r="3" fill="gray"/><circle cx="12" cy="9" r="2"/>'
        '<circle cx="30" cy="14" r="3" fill="gray"/>'
        '<path d="M12 6l14 6m-4-3 4 3-4 0" stroke-dasharray="3 1"/>'
    ),
    "Cosine": '<path d="M1 10h38" stroke-dasharray="2 2"/><path d="M2 3C9 3 11 17 19 17S29 3 38 3"/>',
    "Exponential function": '<path d="M2 18h36"/><path d="M2 17C18 17 28 14 34 2" stroke-width="2"/>',
    "Logarithm": '<path d="M4 2v16M4 10h34"/><path d="M6 18C8 8 16 5 38 3" stroke-width="2"/>',
    "Log scale": '<path d="M2 12h36M3 8v8M15 8v8M20 9v6M24 9v6M27 8v8M32 9v6M36 8v8"/>',
    "Slope": '<path d="M4 16h28V4z"/>',
    "Curvature": '<path d="M3 4C8 19 16 19 20 4"/><path d="M22 6c5 8 11 8 16 0" stroke-dasharray="3 2"/>',
    "Hessian": (
        '<ellipse cx="20" cy="10" rx="17" ry="8"/><ellipse cx="20" cy="10" rx="8" ry="4"/>'
        '<path d="M20 10h17M20 10V2"/>'
    ),
    "Variance": '<path d="M5 18h30M12 18V6h12v12"/><path d="M12 3h12m-12-2v4m12-4v4"/>',
    "Standardised": '<path d="M3 15h34M8 12v6M20 10v8M32 12v6"/><circle cx="26" cy="6" r="2.5" fill="gray"/>',
    "Wilcoxon test": '<path d="M20 2v16M20 4h4M20 8h8M20 12h13M20 16h-6" stroke-width="2"/>',
    "Cohen's d": ('<path d="M1 18C9 18 9 4 14 4s5 14 13 14"/><path d="M13 18C21 18 21 4 26 4s5 14 13 14"/>'),
    "Random forest": (
        '<path d="M7 3v5L3 15M7 8l4 7M20 3v5l-4 7M20 8l4 7M33 3v5l-4 7M33 8l4 7"/>'
        '<path d="M2 18h36" stroke-width="2"/>'
    ),
    "Coordinate ascent": '<path d="M4 17h9v-6h9V6h10V2"/><circle cx="32" cy="3" r="2" fill="gray"/>',
    "Run": '<path d="M12 3l16 7-16 7z"/>',
    "Job": '<circle cx="20" cy="10" r="8"/><path d="M20 5v5l4 3"/>',
    "qrels": '<path d="M5 5h10M18 5h10M32 5h3M5 10h10M18 10h10M32 10h3M5 15h10M18 15h10M32 15h3"/>',
}
