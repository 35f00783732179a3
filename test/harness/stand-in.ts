/**
 * Stands for an object that is made before the tests of a file run, so that the file can take it apart at its top:
 * `const { stack, api } = useStack(…)`. It has the members of the object that `current` returns at the moment.
 *
 * @param target a function, if the object is one.
 * @throws {Error} where it is used before the object is made, such as at the top of a file.
 */
export function standIn<T extends object>(name: string, current: () => T | undefined, target: object = {}): T {
  const made = (): T => {
    const object = current();
    if (!object) throw new Error(`${name} is only there in tests and hooks.`);
    return object;
  };
  return new Proxy(target as T, {
    get: (_, member) => Reflect.get(made(), member),
    set: (_, member, value) => Reflect.set(made(), member, value),
    has: (_, member) => Reflect.has(made(), member),
    ownKeys: () => Reflect.ownKeys(made()),
    getOwnPropertyDescriptor: (_, member) => Reflect.getOwnPropertyDescriptor(made(), member),
    apply: (_, self, values) => Reflect.apply(made() as CallableFunction, self, values),
  });
}
