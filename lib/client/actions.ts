/** Exports of the client with actions, such as `players.actions.publish(1, input)`, and of the singleton client. */

export { type ActingClient, type ActingOptionsFor, type ActionCallOptions, resource } from './actionClient.js'
export type { ActionPlace, ActionShape, ActionShapes } from './shapes.js'
export { type SingletonClient, type SingletonOptionsFor, singleton } from './singleton.js'
