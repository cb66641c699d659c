package atomicfile

import (
	"os"

	"golang.org/x/sys/windows"
)

// place gives the file temp the name target, which nothing may have. Whoever has read the file
// would keep a second name, as on Unix, from being removed.
func place(temp, target string) error {
	from, err := windows.UTF16PtrFromString(temp)
	if err != nil {
		return err
	}
	to, err := windows.UTF16PtrFromString(target)
	if err != nil {
		return err
	}
	if err := windows.MoveFileEx(from, to, windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return &os.LinkError{Op: "rename", Old: temp, New: target, Err: err}
	}
	return nil
}
