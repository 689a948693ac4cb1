package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"supportbot/functions/local/deploy"
	"supportbot/functions/local/operate"
	"supportbot/shared/redisdb"
)

// connectDeployment is the command connect: --dry-run or DRY_RUN=1 only tells,
// --force or FORCE=1 sets secrets again, too.
func connectDeployment(ctx context.Context, args []string) error {
	o := deploy.Options{DryRun: os.Getenv("DRY_RUN") != "", Force: os.Getenv("FORCE") != ""}
	for _, arg := range args {
		switch arg {
		case "--dry-run":
			o.DryRun = true
		case "--force":
			o.Force = true
		default:
			return fmt.Errorf("%w: connect takes --dry-run and --force", operate.ErrUsage)
		}
	}
	d, err := openDeployment()
	if err != nil {
		return err
	}
	return d.Connect(ctx, o)
}

// examineDeployment is the command doctor.
func examineDeployment(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: doctor takes nothing but variables", operate.ErrUsage)
	}
	d, err := openDeployment()
	if err != nil {
		return err
	}
	return d.Doctor(ctx)
}

// openDeployment takes variables from the environment, and what it does not name from
// those that Terraform was given.
func openDeployment() (*deploy.Deployment, error) {
	redisdb.LogTo(slog.New(slog.NewTextHandler(io.Discard, nil))) // what matters is a finding
	set := func(name string) bool { return os.Getenv(name) != "" }
	applied, err := deploy.FromTerraform("terraform", set)
	if err != nil {
		return nil, err
	}
	return deploy.New(deploy.Config{Out: os.Stdout, Lookup: variables(applied).get})
}
