import type { DocumentInfo, DocumentOptions, DocumentReference, JsonSchema } from './openApi.js'

/** The options of `asyncApi`. */
export interface AsyncApiOptions extends Pick<DocumentOptions, 'resources' | 'info' | 'security'> {
  /** Servers by name. Default: no servers, so that clients must know the address. */
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

/** A channel: the Socket.IO namespace (hub) of a resource. */
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

/**
 * A message of an event. `payload` is the schema of the first argument, `x-arguments` has the schemas of all arguments.
 */
export interface AsyncApiMessage {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly payload?: JsonSchema
  readonly 'x-arguments': readonly JsonSchema[]
}
