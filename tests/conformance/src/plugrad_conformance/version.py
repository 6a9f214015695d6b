"""What this kit is: its version, and the version of the reports it writes."""

VERSION = "0.1.0"
#: MAJOR.MINOR of the JSON report: a new field raises the minor, any other change the major.
REPORT_SCHEMA = "1.2"
