import express, { type Express } from 'express'
import express4 from 'express4'

/** Both frameworks by name. They are told apart by their declarations only where these tests do not look. */
export const FRAMEWORKS: readonly (readonly [name: string, create: () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4 as unknown as () => Express],
]
