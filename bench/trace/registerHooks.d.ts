// Node 22.15 and later has it; the types are those of the oldest Node that the package supports.

export {}

declare module 'node:module' {
  interface Loaded {
    readonly source?: string | ArrayBuffer | NodeJS.TypedArray | undefined
  }

  export const registerHooks:
    | ((hooks: { load(url: string, context: object, next: (url: string, context: object) => Loaded): Loaded }) => void)
    | undefined
}
