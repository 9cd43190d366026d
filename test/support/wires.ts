import { createRequire } from 'node:module'
import type { Namespace, ServerOptions } from 'socket.io'

type Adapter = Namespace['adapter']

interface Clustered extends Adapter {
  onMessage(message: unknown, offset: string): void
  onResponse(response: unknown): void
}

interface ClusterMessage {
  readonly uid: string
}

// Base class of adapters for several servers. Only the module that Socket.IO itself depends on exports it.
const { ClusterAdapter }: { readonly ClusterAdapter: new (namespace: Namespace) => Clustered & ClusterMessage } =
  createRequire(import.meta.resolve('socket.io'))('socket.io-adapter')

/** A cluster of Socket.IO servers in one process. The servers share no objects, only messages as text. */
export interface InProcessCluster {
  readonly adapter: NonNullable<ServerOptions['adapter']>
  /** Called before a message is published. A rejection makes publishing fail. */
  publish: () => Promise<void>
  /** Whether a published message is lost. */
  isLost: (text: string) => boolean
  /** Published messages, as text. */
  readonly published: string[]
}

export const deliverAtOnce = async (): Promise<void> => undefined

export function openInProcessCluster(): InProcessCluster {
  const members = new Set<Wired>()
  class Wired extends ClusterAdapter {
    constructor(namespace: Namespace) {
      super(namespace)
      members.add(this)
    }

    #others(): Wired[] {
      return [...members].filter((member) => member !== this && member.nsp.name === this.nsp.name)
    }

    override async serverCount(): Promise<number> {
      return this.#others().length + 1
    }

    async doPublish(message: unknown): Promise<string> {
      const text = JSON.stringify(message)
      wire.published.push(text)
      await wire.publish()
      if (wire.isLost(text)) return ''
      for (const other of this.#others()) setImmediate(() => other.onMessage(JSON.parse(text), ''))
      return ''
    }

    async doPublishResponse(uid: string, response: unknown): Promise<void> {
      const text = JSON.stringify(response)
      const requester = this.#others().find((member) => member.uid === uid)
      setImmediate(() => requester?.onResponse(JSON.parse(text)))
    }
  }
  const wire: InProcessCluster = { adapter: Wired as never, publish: deliverAtOnce, isLost: () => false, published: [] }
  return wire
}
