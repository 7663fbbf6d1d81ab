import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { strings } from '../strings.js'
import { Failure } from './failure.js'

export interface ConfirmButtonProps extends Pick<ButtonProps, 'size' | 'variant' | 'color'> {
  readonly label: string
  /** What the button is about, for screen readers: its label may be the same in every row. */
  readonly about?: string
  readonly question: string
  /** What happens, and whether it can be undone. */
  readonly consequence?: string
  /** If it returns a promise that is rejected, the reason is shown. */
  readonly onConfirm: () => unknown
}

/** A button for what cannot be undone: it asks first, and shows why it failed. */
export function ConfirmButton(props: ConfirmButtonProps): ReactNode {
  const { label, about, question, consequence, onConfirm } = props
  const { size = 'compact-sm', variant = 'light', color = 'red' } = props
  const [isOpen, { open, close }] = useDisclosure()
  const [error, setError] = useState<unknown>()
  const [isPending, setPending] = useState(false)

  const confirm = async (): Promise<void> => {
    setPending(true)
    try {
      await onConfirm()
      close()
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  const ask = (): void => {
    setError(undefined)
    open()
  }

  return (
    <>
      <Button
        size={size}
        variant={variant}
        color={color}
        onClick={ask}
        {...(about !== undefined && { 'aria-label': `${label}: ${about}` })}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={question} closeButtonProps={{ 'aria-label': strings.common.close }}>
        <Stack>
          {consequence !== undefined && <Text>{consequence}</Text>}
          {error !== undefined && <Failure error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {strings.common.keep}
            </Button>
            <Button color={color} onClick={confirm} loading={isPending}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
