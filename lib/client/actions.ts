/** Clients of a resource with its actions, `players.actions.publish(1, input)`, and of singletons. */

export { type ActingClient, type ActingOptionsFor, type ActionCallOptions, resource } from './actionClient.js'
export type { ActionPlace, ActionShape, ActionShapes } from './shapes.js'
export { type SingletonClient, type SingletonOptionsFor, singleton } from './singleton.js'
