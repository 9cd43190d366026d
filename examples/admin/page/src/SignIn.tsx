import { Button, CardContent, Stack, Typography } from '@mui/material'
import { Login, LoginForm, useLogin, useNotify } from 'react-admin'

export interface SignInAccount {
  readonly username: string
  readonly password: string
  readonly role: string
  readonly tenant?: string
}

/** The sign-in form. A click on one of the example's accounts signs in with it. */
export function SignIn({ accounts }: { accounts: readonly SignInAccount[] }) {
  const login = useLogin()
  const notify = useNotify()
  return (
    <Login>
      <LoginForm />
      <CardContent sx={{ pt: 0, maxWidth: 300 }}>
        <Typography variant="body2" color="text.secondary" gutterBottom>
          Accounts of this example, by user name and password:
        </Typography>
        <Stack spacing={0.5}>
          {accounts.map(({ username, password, role, tenant }) => (
            <Button
              key={username}
              variant="outlined"
              size="small"
              sx={{ justifyContent: 'space-between', textAlign: 'start', textTransform: 'none' }}
              onClick={() =>
                login({ username, password }).catch((error: Error) => notify(error.message, { type: 'error' }))
              }
            >
              <span>
                <b>{username}</b> / {password}
              </span>
              <Typography component="span" variant="caption" color="text.secondary">
                {tenant === undefined ? role : `${role} of ${tenant}`}
              </Typography>
            </Button>
          ))}
        </Stack>
      </CardContent>
    </Login>
  )
}
