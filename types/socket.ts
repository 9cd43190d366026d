// biome-ignore lint/suspicious/noTsIgnore: the import is an error only where the optional peer is missing
/** @ts-ignore: its types are `any` there */
import type { Namespace, Server, Socket } from 'socket.io'

export type { Namespace, Server, Socket }
