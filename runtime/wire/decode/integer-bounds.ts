export const MAX_U64 = 2n ** 64n - 1n;
export const MIN_I64 = -(2n ** 63n);
export const MAX_I64 = 2n ** 63n - 1n;
