type Class = abstract new (...args: never) => object;

/**
 * Makes `instanceof` true for the instances of every copy of a class: a tree of packages may hold several versions of
 * this one. Only an instance has the mark, because JSON data has no symbols as names.
 */
export function shareBrand(type: Class, name: string): void {
  const brand = Symbol.for(`svc-client.${name}.v1`);
  Object.defineProperty(type.prototype, brand, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: Class, value: unknown) {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
      return typeof value === "object" && value !== null && brand in value;
    },
  });
}
