/** Encodings that strict verification refuses: points of small order, and numbers that are not reduced. */

/**
 * The five y coordinates of points of small order, little-endian with the sign bit clear, and the non-canonical
 * encodings p and p + 1 of the coordinates 0 and 1.
 */
const SMALL_ORDER_ENCODINGS = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].map((hex) => Buffer.from(hex, "hex"));

/** Whether the first 32 bytes are a canonical field element that is not the y coordinate of a point of small order. */
export function isStrictEncoding(bytes: Uint8Array): boolean {
  return isReducedCoordinate(bytes) && !SMALL_ORDER_ENCODINGS.some((encoding) => sameCoordinate(bytes, encoding));
}

function sameCoordinate(bytes: Uint8Array, encoding: Uint8Array): boolean {
  for (let i = 0; i < 31; i++) if (bytes[i] !== encoding[i]) return false;
  return ((bytes[31] as number) & 0x7f) === encoding[31];
}

/** Whether y, without the sign bit, is below p = 2^255 − 19. */
function isReducedCoordinate(bytes: Uint8Array): boolean {
  if (((bytes[31] as number) & 0x7f) !== 0x7f) return true;
  for (let i = 30; i > 0; i--) if (bytes[i] !== 0xff) return true;
  return (bytes[0] as number) < 0xed;
}

const ORDER_BYTES = Buffer.from("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010", "hex");

/** Whether S, the second half of a signature, is below the group order (both little-endian). */
export function isReducedScalar(signature: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    const difference = (signature[32 + i] as number) - (ORDER_BYTES[i] as number);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
