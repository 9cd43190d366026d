import type { DocumentInfo, DocumentOptions, DocumentReference, JsonSchema } from './openApi.js'

/** The options of `asyncApi`. */
export interface AsyncApiOptions extends Pick<DocumentOptions, 'resources' | 'info' | 'security'> {
  /** Servers by name. Default: none. Then clients must know the address. */
  readonly servers?: Readonly<Record<string, AsyncApiServer>>
}

export interface AsyncApiServer {
  /** Host name and port: `api.example.com`. */
  readonly host: string
  readonly protocol: 'ws' | 'wss'
  /** The path of the Socket.IO server: `/socket.io`. */
  readonly pathname?: string
  readonly description?: string
}

/** An AsyncAPI 3.1 document as a plain object. */
export interface AsyncApiDocument {
  readonly asyncapi: '3.1.0'
  readonly info: DocumentInfo
  readonly servers?: Readonly<Record<string, AsyncApiServer>>
  readonly defaultContentType: 'application/json'
  readonly channels: Readonly<Record<string, AsyncApiChannel>>
  readonly operations: Readonly<Record<string, AsyncApiOperation>>
  readonly components: {
    readonly messages: Readonly<Record<string, AsyncApiMessage>>
    readonly schemas?: Readonly<Record<string, JsonSchema>>
    readonly securitySchemes?: Readonly<Record<string, JsonSchema>>
  }
}

/** A hub: a namespace of Socket.IO. */
export interface AsyncApiChannel {
  readonly address: string
  readonly title: string
  readonly description: string
  readonly messages: Readonly<Record<string, DocumentReference>>
}

/** An event that the application sends. */
export interface AsyncApiOperation {
  readonly action: 'send'
  readonly channel: DocumentReference
  readonly summary: string
  readonly messages: readonly DocumentReference[]
  readonly security?: readonly DocumentReference[]
}

/** An event. `payload` is its first argument, `x-arguments` has all of them. */
export interface AsyncApiMessage {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly payload?: JsonSchema
  readonly 'x-arguments': readonly JsonSchema[]
}
