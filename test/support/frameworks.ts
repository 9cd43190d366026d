import express, { type Express } from 'express'
import express4 from 'express4'

/** Express 4 and 5 by name. Tests use only parts with equal type declarations. */
export const FRAMEWORKS: readonly (readonly [name: string, create: () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4 as unknown as () => Express],
]
