export const clamp = (value, most) => Math.round(Math.min(Math.max(value, 0), most));
