// biome-ignore lint/suspicious/noTsIgnore: the import is an error only where the optional peer is missing
/** @ts-ignore: without the optional peer the imported types are `any` */
import type { Namespace, Server, Socket } from 'socket.io'

export type { Namespace, Server, Socket }
