export type Warning = { pointer: string; code: string; detail: string };
