// Shapes of queries, about 12 pixels wide, centred at 0.
export const SHAPES = [
  { name: "circle", sign: "●", path: "M6 0A6 6 0 1 1 -6 0A6 6 0 1 1 6 0Z" },
  { name: "square", sign: "■", path: "M-5.3 -5.3H5.3V5.3H-5.3Z" },
  { name: "triangle", sign: "▲", path: "M0 -7L6.4 4.6H-6.4Z" },
  { name: "plus", sign: "✚", path: "M-2.3 -6.5H2.3V-2.3H6.5V2.3H2.3V6.5H-2.3V2.3H-6.5V-2.3H-2.3Z" },
];
export const ACROSS = 7; // from the centre of a document to its farthest point
export const DIAGONAL = 12; // from the centre of a landmark to its corners
export const DIAMOND = `M0 -${DIAGONAL}L${DIAGONAL} 0L0 ${DIAGONAL}L-${DIAGONAL} 0Z`;
