import { describe, expect, it } from 'vitest'
import {
  ACCEPTED_TASK_VECTORS,
  OTHER_ORIGINS,
  POLLED_TASK_VECTORS,
  TASK_CALL_URL,
} from '../../test-vectors/call/accepted-task.js'
import type { JsonValue } from '../json.js'
import { readAcceptedTask, readPolledTask, readPollInterval, readProgress, taskIdOfHeaders } from './accepted-task.js'

const read = (body: JsonValue, headers: Readonly<Record<string, string>>) =>
  readAcceptedTask({ body, header: (name) => headers[name], url: TASK_CALL_URL }, () => new Error('other origin'))

describe('readAcceptedTask', () => {
  it.each(ACCEPTED_TASK_VECTORS)('AURI-8-02 reads $title', ({ body, headers, task }) => {
    const expected = task && { id: task.id, status: task.status, url: `https://agent.example${task.path}` }
    expect(read(body, headers)).toEqual(expected)
    if (body === null) expect(taskIdOfHeaders((name) => headers[name])).toBe(task?.id)
  })

  it.each(OTHER_ORIGINS)('rejects the Location %s', (location) => {
    expect(() => read({ taskId: 't' }, { location })).toThrow('other origin')
  })
})

describe('readProgress', () => {
  it.each([
    [{ progress: { fraction: 0.4, message: 'page 4', other: 1 } }, { fraction: 0.4, message: 'page 4' }],
    [{ progress: { fraction: -3, message: '' } }, { fraction: 0 }],
    [{ progress: { fraction: 1e9, message: 'x'.repeat(5000) } }, { fraction: 1, message: 'x'.repeat(200) }],
    [{ progress: { fraction: '40 %' } }, undefined],
    [{ progress: 0.4 }, undefined],
    [null, undefined],
  ])('of %o stays within bounds', (body, progress) => {
    expect(readProgress(body)).toEqual(progress)
  })
})

describe('readPollInterval', () => {
  it.each([
    [{ pollInterval: 2 }, '3', 3],
    [{ pollInterval: 0.5 }, 'soon', 0.5],
    [{ pollInterval: -1 }, undefined, undefined],
    [{ pollInterval: '2' }, undefined, undefined],
    [null, undefined, undefined],
  ])('AURI-8-04 reads %j and Retry-After: %s as %s', (body, retryAfter, seconds) => {
    expect(readPollInterval({ body, header: () => retryAfter }, Date.now)).toBe(seconds)
  })
})

describe('readPolledTask', () => {
  it.each(POLLED_TASK_VECTORS)('AURI-8-02 reads $title', ({ body, says }) => {
    const polled = readPolledTask(body, 't1')
    if (says === 'running') expect(polled).toEqual({ outcome: 'running' })
    else if ('result' in says) expect(polled).toEqual({ outcome: 'succeeded', result: says.result })
    else expect(polled).toMatchObject({ outcome: 'failed', document: body })
  })

  it.each([
    ['completed', 'succeeded'],
    ['Done', 'succeeded'],
    ['canceled', 'failed'],
    ['interrupted', 'failed'],
    ['working', 'running'],
  ])('reads the status %s as %s', (status, outcome) => {
    expect(readPolledTask({ taskId: 't1', status }, 't1').outcome).toBe(outcome)
  })
})
