// Bytes that Python sends as base64.

export const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
