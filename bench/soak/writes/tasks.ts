import { isStored, put, type Stored, shownTask, sorted, type Task, tagOf } from '../state.js'
import { keysOf, type Making, type WriteMaker } from '../writes.js'

const MOST_TASKS = 30

function tasks({ state }: Making, deleted: boolean): Stored<Task>[] {
  return sorted(state.tasks.values())
    .filter(isStored)
    .filter((task) => task.deleted === deleted)
}

/** Returns a task as it is after a write by the caller. */
function writtenTask(making: Making, task: Task, changes: Partial<Task>): Task {
  return { ...task, ...changes, updatedBy: making.caller.name, rowVersion: task.rowVersion + 1 }
}

export const createTask: WriteMaker = (making) => {
  const { owner, state } = making
  if (state.tasks.size >= MOST_TASKS) return null
  const by = making.caller.name
  const made = Array.from({ length: 1 + making.random(3) }, (): Task => {
    return {
      id: null,
      code: making.code(),
      owner,
      title: making.name(),
      done: making.isOneOf(2),
      createdBy: by,
      updatedBy: by,
      rowVersion: 0,
      deleted: false,
    }
  })
  const isBulk = made.length > 1
  const bodies = made.map(({ code, title, done }) => ({ code, title, done }))
  const shown = made.map(shownTask)
  return {
    kind: isBulk ? 'hooked bulk create' : 'hooked create',
    resource: 'tasks',
    method: 'POST',
    path: isBulk ? '/api/tasks/bulk' : '/api/tasks',
    body: isBulk ? bodies : bodies[0],
    expected: { status: 201, body: isBulk ? shown : shown[0] },
    next: { ...state, tasks: put(state.tasks, ...made) },
  }
}

export const patchTask: WriteMaker = (making) => {
  const { state } = making
  const task = making.any(tasks(making, false))
  if (task === null) return null
  const body = { title: making.name(), done: !task.done }
  const after = writtenTask(making, task, body)
  return {
    kind: 'hooked PATCH',
    resource: 'tasks',
    method: 'PATCH',
    path: `/api/tasks/${task.id}`,
    headers: { 'if-match': tagOf(task) },
    body,
    expected: { status: 200, body: shownTask(after), headers: { etag: tagOf(after) } },
    next: { ...state, tasks: put(state.tasks, after) },
  }
}

export const deleteTask: WriteMaker = (making) => {
  const { state } = making
  const task = making.any(tasks(making, false))
  if (task === null) return null
  const isStale = making.isOneOf(8)
  const after = writtenTask(making, task, { deleted: true })
  return {
    kind: isStale ? 'soft delete stale' : 'soft delete',
    resource: 'tasks',
    method: 'DELETE',
    path: `/api/tasks/${task.id}`,
    headers: isStale ? { 'if-match': tagOf(after) } : { 'if-match': tagOf(task) },
    expected: { status: isStale ? 412 : 204 },
    next: isStale ? state : { ...state, tasks: put(state.tasks, after) },
  }
}

export const deleteTasks: WriteMaker = (making) => {
  const { state } = making
  const chosen = making.some(tasks(making, false), 3, 10)
  const skipped = tasks(making, true).slice(0, 2)
  return {
    kind: 'bulk soft delete',
    resource: 'tasks',
    method: 'POST',
    path: '/api/tasks/bulk-delete',
    body: keysOf([...chosen, ...skipped].map(({ id }) => id)),
    expected: { status: 200, body: { deleted: chosen.length } },
    next: {
      ...state,
      tasks: put(state.tasks, ...chosen.map((each) => writtenTask(making, each, { deleted: true }))),
    },
  }
}

export const restoreTask: WriteMaker = (making) => {
  const { state } = making
  const isRefused = making.isOneOf(5)
  const task = making.any(tasks(making, !isRefused))
  if (task === null) return null
  const after = writtenTask(making, task, { deleted: false })
  return {
    kind: isRefused ? 'restore undeleted' : 'restore',
    resource: 'tasks',
    method: 'POST',
    path: `/api/tasks/${task.id}/restore`,
    expected: isRefused ? { status: 404 } : { status: 200, body: shownTask(after) },
    next: isRefused ? state : { ...state, tasks: put(state.tasks, after) },
  }
}
