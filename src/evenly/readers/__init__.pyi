from evenly.readers.base import Reader as Reader
from evenly.readers.registry import Skipped as Skipped
from evenly.readers.registry import format_names as format_names
from evenly.readers.registry import option_names as option_names
from evenly.readers.registry import readers as readers
from evenly.readers.scanning import Measurements as Measurements
from evenly.readers.scanning import read as read
from evenly.readers.scanning import scan as scan
