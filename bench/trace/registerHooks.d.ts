// `registerHooks` exists in Node.js 22.15 and later. The installed types are of the oldest supported Node.js.

export {}

declare module 'node:module' {
  interface Loaded {
    readonly source?: string | ArrayBuffer | NodeJS.TypedArray | undefined
  }

  export const registerHooks:
    | ((hooks: { load(url: string, context: object, next: (url: string, context: object) => Loaded): Loaded }) => void)
    | undefined
}
